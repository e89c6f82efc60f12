//! RoPE, half-split: both products in f32, one floored store.
//!
//! Inputs: `x` `[rows, width]`, rows being heads of tokens; `table`, each row `width / 2` cosines
//! and then as many sines. Output: `y` `[rows, width]`.

use rayon::prelude::*;

use crate::npu::simulate::numerics::SHARE;
use crate::tensor::round::bf16_floor;

/// `table_row` tells which row of the table a row of `x` turns by.
pub(crate) fn rope(
    x: &[f32],
    table: &[f32],
    width: usize,
    table_row: impl Fn(usize) -> usize + Sync,
) -> Vec<f32> {
    let half = width / 2;
    let mut out = vec![0.0; x.len()];
    let share = (SHARE / width).max(1);
    let turn = |part: usize, out: &mut [f32], x: &[f32]| {
        for (row, (out, x)) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)).enumerate() {
            let at = table_row(part * share + row) * width;
            let (cos, sin) = table[at..at + width].split_at(half);
            let (low, high) = x.split_at(half);
            let (out_low, out_high) = out.split_at_mut(half);
            for j in 0..half {
                out_low[j] = bf16_floor(low[j] * cos[j] - high[j] * sin[j]);
                out_high[j] = bf16_floor(low[j] * sin[j] + high[j] * cos[j]);
            }
        }
    };
    out.par_chunks_mut(share * width)
        .zip(x.par_chunks(share * width))
        .enumerate()
        .for_each(|(part, (out, x))| turn(part, out, x));
    out
}
