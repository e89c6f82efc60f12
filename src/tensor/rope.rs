//! Rotary position embedding, half-split: element `j` turns with element `j + head_dim / 2`.

use std::ops::Range;

use crate::tensor::ops;

/// Cosines and sines of some positions, made in f64 and kept in f32.
#[derive(Clone, Debug)]
pub struct Rope {
    half: usize,
    first: usize,
    cos: Vec<f32>,
    sin: Vec<f32>,
}

impl Rope {
    /// `inverse[j]` is the angle by which pair `j` turns from one position to the next.
    pub fn new(inverse: &[f64], positions: Range<usize>) -> Self {
        let size = inverse.len() * positions.len();
        let (mut cos, mut sin) = (Vec::with_capacity(size), Vec::with_capacity(size));
        let first = positions.start;
        for position in positions {
            for turn in inverse {
                let (s, c) = (position as f64 * turn).sin_cos();
                cos.push(c as f32);
                sin.push(s as f32);
            }
        }
        Self { half: inverse.len(), first, cos, sin }
    }

    /// The `head_dim / 2` cosines of a position.
    pub fn cos(&self, position: usize) -> &[f32] {
        &self.cos[self.at(position)]
    }

    /// The `head_dim / 2` sines of a position.
    pub fn sin(&self, position: usize) -> &[f32] {
        &self.sin[self.at(position)]
    }

    fn at(&self, position: usize) -> Range<usize> {
        let start = (position - self.first) * self.half;
        start..start + self.half
    }

    /// Turns rows of `width` that stand at `start`, `start + 1`, ….
    pub fn apply_rows(&self, rows: &mut [f32], width: usize, start: usize) {
        ops::each_row_mut(rows, width, |row, index| self.apply(row, start + index));
    }

    /// Turns every head in one row of heads.
    pub fn apply(&self, row: &mut [f32], position: usize) {
        let (cos, sin) = (self.cos(position), self.sin(position));
        for head in row.chunks_exact_mut(2 * self.half) {
            let (low, high) = head.split_at_mut(self.half);
            for j in 0..self.half {
                let (a, b) = (low[j], high[j]);
                low[j] = a * cos[j] - b * sin[j];
                high[j] = b * cos[j] + a * sin[j];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn() {
        let rope = Rope::new(&[std::f64::consts::FRAC_PI_2, 0.0], 0..3);
        let mut row = [1.0, 2.0, 3.0, 4.0];
        rope.apply(&mut row, 1);
        assert!(
            row.iter().zip([-3.0, 2.0, 1.0, 4.0]).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-6)
        );
        rope.apply(&mut row, 0);
        assert!((row[0] + 3.0).abs() < 1e-6);
    }
}
