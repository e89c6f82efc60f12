//! The KV cache, on the host: keys after rotation and values, as wide as the network has them.

pub(super) struct KvCache {
    width: usize,
    layers: Vec<[Vec<f32>; 2]>,
}

impl KvCache {
    pub(super) fn new(layers: usize, width: usize) -> Self {
        Self { width, layers: (0..layers).map(|_| [Vec::new(), Vec::new()]).collect() }
    }

    pub(super) fn clear(&mut self) {
        self.layers.iter_mut().flatten().for_each(Vec::clear);
    }

    /// Puts rows at positions from `start` on. Positions that were skipped are zeros.
    pub(super) fn write(&mut self, layer: usize, start: usize, rows: [&[f32]; 2]) {
        for (kept, rows) in self.layers[layer].iter_mut().zip(rows) {
            let from = start * self.width;
            kept.truncate(from);
            kept.resize(from, 0.0);
            kept.extend_from_slice(rows);
        }
    }

    /// Keys and values of the first `end` positions; what was never written is zeros.
    pub(super) fn rows(&mut self, layer: usize, end: usize) -> [&[f32]; 2] {
        let end = end * self.width;
        let [keys, values] = &mut self.layers[layer];
        for kept in [&mut *keys, &mut *values] {
            if kept.len() < end {
                kept.resize(end, 0.0);
            }
        }
        [&keys[..end], &values[..end]]
    }
}
