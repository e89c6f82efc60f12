//! The KV cache: keys after rotation and values, position by position.

use crate::model::Config;

#[derive(Clone, Debug)]
pub struct Cache {
    width: usize,
    capacity: usize,
    len: usize,
    keys: Vec<Vec<f32>>,
    values: Vec<Vec<f32>>,
}

impl Cache {
    /// Room for `capacity` positions. Rows are `kv_heads · head_dim` wide; memory grows as used.
    pub fn new(config: &Config, capacity: usize) -> Self {
        let empty = vec![Vec::new(); config.layers];
        Self { width: config.kv_width(), capacity, len: 0, keys: empty.clone(), values: empty }
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many positions are filled.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The width of one position: `kv_heads · head_dim`.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Keys of a layer, `[len, width]`.
    pub fn keys(&self, layer: usize) -> &[f32] {
        &self.keys[layer][..self.len * self.width]
    }

    /// Values of a layer, `[len, width]`.
    pub fn values(&self, layer: usize) -> &[f32] {
        &self.values[layer][..self.len * self.width]
    }

    /// Forgets the positions from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        let keep = self.len * self.width;
        self.keys.iter_mut().chain(&mut self.values).for_each(|rows| rows.truncate(keep));
    }

    /// Adds rows to one layer and returns all its keys and values, the new ones included.
    pub(in crate::model) fn extend(
        &mut self,
        layer: usize,
        keys: &[f32],
        values: &[f32],
    ) -> (&[f32], &[f32]) {
        let start = self.len * self.width;
        for (kept, new) in [(&mut self.keys[layer], keys), (&mut self.values[layer], values)] {
            kept.truncate(start);
            kept.extend_from_slice(new);
        }
        (&self.keys[layer], &self.values[layer])
    }

    /// Called when every layer has its rows.
    pub(in crate::model) fn advance(&mut self, tokens: usize) {
        self.len += tokens;
    }
}
