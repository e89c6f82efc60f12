//! Adds one row to each row, floored.
//!
//! Inputs: `x` `[rows, width]`, `bias` `[width]`. Output: `y` `[rows, width]`.

use crate::tensor::ops::each_row;
use crate::tensor::round::bf16_floor;

pub(crate) fn bias_add(x: &[f32], bias: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; x.len()];
    each_row(x, &mut out, bias.len(), |x, out| {
        out.iter_mut().zip(x).zip(bias).for_each(|((y, x), bias)| *y = bf16_floor(x + bias));
    });
    out
}
