//! LayerNorm of rows: mean and variance in f32, then a chain of floored steps.
//!
//! Inputs: `x` `[rows, width]`, `weight` and `bias` `[width]`, or both packed in one `[2, width]`.
//! Output: `y` `[rows, width]`.

use crate::tensor::ops::each_row;
use crate::tensor::round::bf16_floor;

pub(crate) fn layer_norm(x: &[f32], weight: &[f32], bias: &[f32], eps: f32) -> Vec<f32> {
    let width = weight.len();
    let mut out = vec![0.0; x.len()];
    each_row(x, &mut out, width, |x, out| {
        let mean = x.iter().sum::<f32>() / width as f32;
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / width as f32;
        let (mean, inverse) = (bf16_floor(mean), bf16_floor(1.0 / (variance + eps).sqrt()));
        for (((y, x), weight), bias) in out.iter_mut().zip(x).zip(weight).zip(bias) {
            let normal = bf16_floor(bf16_floor(x - mean) * inverse);
            *y = bf16_floor(bf16_floor(normal * weight) + bias);
        }
    });
    out
}
