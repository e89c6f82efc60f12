//! Between a buffer's memory and the network's values: layouts undone, padding taken off or put on.

use super::axis::{Axis, Widths};
use crate::npu::{Buffer, Layout};

/// How the rows of a buffer lie in its memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub count: usize,
    pub width: usize,
    head_dim: usize,
    layout: Layout,
}

impl Rows {
    pub(super) fn of(buffer: &Buffer, head_dim: usize) -> Self {
        let count = if buffer.shape.len() > 1 { buffer.shape[0] } else { 1 };
        let width = buffer.elements() / count;
        Self { count, width, head_dim: head_dim.max(1), layout: buffer.layout }
    }

    /// Where the element of a row lies.
    pub(super) fn at(&self, row: usize, column: usize) -> usize {
        match self.layout {
            Layout::SeqFirst => row * self.width + column,
            Layout::HeadsFirst => {
                let (head, within) = (column / self.head_dim, column % self.head_dim);
                (head * self.count + row) * self.head_dim + within
            }
        }
    }

    fn is_plain(&self, places: &[usize]) -> bool {
        let whole = places.len() == self.width && places.last() == Some(&(self.width - 1));
        self.layout == Layout::SeqFirst && whole && places.is_sorted()
    }

    /// The first `count` rows as the network has them, `[count, real]`.
    pub(super) fn take(
        &self,
        memory: &[f32],
        count: usize,
        axis: Axis,
        widths: &Widths,
    ) -> Vec<f32> {
        let places = widths.places(axis);
        if self.is_plain(&places) && memory.len() >= count * self.width {
            return memory[..count * self.width].to_vec();
        }
        let mut out = Vec::with_capacity(count * places.len());
        for row in 0..count {
            let value = |place: &usize| memory.get(self.at(row, *place)).copied().unwrap_or(0.0);
            out.extend(places.iter().map(value));
        }
        out
    }

    /// Rows of the network in a memory that is otherwise zeros.
    pub(super) fn put(&self, rows: &[f32], axis: Axis, widths: &Widths) -> Vec<f32> {
        let places = widths.places(axis);
        let mut memory = vec![0.0; self.count * self.width];
        if self.is_plain(&places) {
            let count = rows.len().min(memory.len());
            memory[..count].copy_from_slice(&rows[..count]);
            return memory;
        }
        for (row, values) in rows.chunks_exact(places.len()).enumerate().take(self.count) {
            for (value, place) in values.iter().zip(&places) {
                if *place < self.width
                    && let Some(to) = memory.get_mut(self.at(row, *place))
                {
                    *to = *value;
                }
            }
        }
        memory
    }
}
