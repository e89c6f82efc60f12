//! GEMM of bf16 operands through bfp16: `[m, k] · [k, n]`, by the four methods.
//!
//! Inputs: `A` `[m, k]`, `B` `[k, n]`. Output: `C` `[m, n]`.
//! Both operands become bfp16ebs8, groups of 8 along K; products add up in f32, K ascending.
//! *External* stores f32; *drain* rounds once to nearest even; *fused-cast* floors in a cast
//! launch of its own; *direct* carries C in bf16 and rounds it after each step of 32.

use rayon::prelude::*;

use crate::npu::Method;
use crate::npu::simulate::numerics::bfp16_rows_parallel;
use crate::tensor::round::{bf16_floor_all, bf16_rne, bf16_rne_all};
use crate::tensor::{Gemm, matmul};

/// Depth after which the direct method rounds its accumulator.
const DIRECT_STEP: usize = 32;
/// Rows that one thread takes at a time in the direct method.
const DIRECT_ROWS: usize = 64;

/// `a` as it lies in memory; `b` already transposed to `[n, k]` and on the bfp16 grid.
pub(crate) fn gemm(mut a: Vec<f32>, b: &[f32], k: usize, method: Method) -> Vec<f32> {
    let (m, n) = (a.len() / k, b.len() / k);
    bfp16_rows_parallel(&mut a, k);
    let mut out = vec![0.0; m * n];
    match method {
        Method::Direct => direct(&a, b, &mut out, k),
        _ => matmul(&a, b, &mut out, m, k),
    }
    match method {
        Method::FusedCast => bf16_floor_all(&mut out),
        Method::Drain => bf16_rne_all(&mut out),
        Method::Direct | Method::External => {}
    }
    out
}

fn direct(a: &[f32], b: &[f32], out: &mut [f32], k: usize) {
    let n = b.len() / k;
    let rows = |(out, a): (&mut [f32], &[f32])| {
        let m = a.len() / k;
        let mut step = vec![0.0; m * n];
        for from in (0..k).step_by(DIRECT_STEP) {
            let depth = DIRECT_STEP.min(k - from);
            let (x, w) = ((&a[from..], k, 1), (&b[from..], 1, k));
            Gemm { m, n, k: depth, x, w, out_stride: n, scale: 1.0 }.serial(&mut step);
            out.iter_mut().zip(&step).for_each(|(sum, part)| *sum = bf16_rne(*sum + part));
        }
    };
    out.par_chunks_mut(DIRECT_ROWS * n).zip(a.par_chunks(DIRECT_ROWS * k)).for_each(rows);
}

/// `[k, n]` as memory has it to the `[n, k]` that the product reads, on the bfp16 grid.
pub(crate) fn pack(b: &[f32], k: usize, n: usize) -> Vec<f32> {
    let mut packed = vec![0.0; k * n];
    packed.par_chunks_mut(k).enumerate().for_each(|(column, out)| {
        out.iter_mut().enumerate().for_each(|(row, x)| *x = b[row * n + column]);
    });
    bfp16_rows_parallel(&mut packed, k);
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_integers_are_exact_by_every_method() {
        let a: Vec<f32> = (0..4 * 40).map(|i| ((i * 7) % 5) as f32 - 2.0).collect();
        let b: Vec<f32> = (0..40 * 3).map(|i| ((i * 5) % 7) as f32 - 3.0).collect();
        let exact =
            |i: usize, j: usize| -> f32 { (0..40).map(|p| a[i * 40 + p] * b[p * 3 + j]).sum() };
        let expected: Vec<f32> = (0..12).map(|at| exact(at / 3, at % 3)).collect();
        let packed = pack(&b, 40, 3);
        for method in [Method::External, Method::Drain, Method::FusedCast, Method::Direct] {
            assert_eq!(gemm(a.clone(), &packed, 40, method), expected, "{method:?}");
        }
    }
}
