//! RMSNorm of rows: squares floored and summed in f32, then two floored products.
//!
//! Inputs: `x` `[rows, width]`, `weight` `[width]`. Output: `y` `[rows, width]`. QK-norm is this
//! with heads as rows.

use crate::tensor::ops::each_row;
use crate::tensor::round::bf16_floor;

/// Vector lanes of the sum of squares.
const LANES: usize = 16;

pub(crate) fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    let width = weight.len();
    let mut out = vec![0.0; x.len()];
    each_row(x, &mut out, width, |x, out| {
        let mean = sum_of_squares(x) / width as f32;
        let inverse = bf16_floor(1.0 / (mean + eps).sqrt());
        for ((y, x), weight) in out.iter_mut().zip(x).zip(weight) {
            *y = bf16_floor(bf16_floor(x * inverse) * weight);
        }
    });
    out
}

fn sum_of_squares(x: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let parts = x.chunks_exact(LANES);
    for (lane, x) in parts.remainder().iter().enumerate() {
        lanes[lane] += bf16_floor(x * x);
    }
    for part in parts {
        for lane in 0..LANES {
            lanes[lane] += bf16_floor(part[lane] * part[lane]);
        }
    }
    lanes.iter().sum()
}
