//! Loops over elements, on all cores when there are many.

use rayon::prelude::*;

use crate::npu::simulate::numerics::SHARE;

pub(super) fn map(x: &[f32], make: impl Fn(f32) -> f32 + Sync) -> Vec<f32> {
    let mut out = vec![0.0; x.len()];
    out.par_chunks_mut(SHARE).zip(x.par_chunks(SHARE)).for_each(|(out, x)| {
        out.iter_mut().zip(x).for_each(|(y, x)| *y = make(*x));
    });
    out
}

pub(super) fn zip(a: &[f32], b: &[f32], make: impl Fn(f32, f32) -> f32 + Sync) -> Vec<f32> {
    let mut out = vec![0.0; a.len()];
    let parts = out.par_chunks_mut(SHARE).zip(a.par_chunks(SHARE)).zip(b.par_chunks(SHARE));
    parts.for_each(|((out, a), b)| {
        out.iter_mut().zip(a).zip(b).for_each(|((y, a), b)| *y = make(*a, *b));
    });
    out
}
