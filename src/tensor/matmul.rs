//! The one matrix product: activations times weights as they are stored, on all cores.
#![expect(unsafe_code, reason = "`gemm` takes pointers and strides; a prefetch takes an address")]

use std::array;

use gemm::Parallelism;
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// With one row of activations: rows of weights that one thread takes at a time at most, and
/// shares for each thread where there are fewer rows.
const ROWS: usize = 256;
const SHARES: usize = 4;
/// Rows of weights that one thread reads side by side, and how far ahead it asks for them.
const STREAMS: usize = 4;
const AHEAD: usize = 512;
/// Below this many multiplications one thread is faster than two.
const SERIAL_BELOW: usize = 1 << 16;
/// Partial sums of a dot product; they are added up in a fixed order.
const LANES: usize = 32;

/// `out[m, n] = x[m, k] · w[n, k]ᵀ`. The same bits for any number of threads.
///
/// # Panics
/// When the slices do not have the sizes that `m` and `k` ask for.
pub fn matmul(x: &[f32], w: &[f32], out: &mut [f32], m: usize, k: usize) {
    assert!(m > 0 && k > 0 && x.len() == m * k && w.len().is_multiple_of(k), "shapes of a matmul");
    let n = w.len() / k;
    assert_eq!(out.len(), m * n, "a matmul fills its output");
    if m == 1 {
        return matvec(x, w, out, k);
    }
    let threads = if m * n * k < SERIAL_BELOW { Parallelism::None } else { Parallelism::Rayon(0) };
    Gemm { m, n, k, x: (x, k, 1), w: (w, 1, k), out_stride: n, scale: 1.0 }.run(out, threads);
}

/// The same on the calling thread alone, for use inside work that is already parallel.
pub fn matmul_serial(x: &[f32], w: &[f32], out: &mut [f32], m: usize, k: usize) {
    let n = w.len() / k;
    Gemm { m, n, k, x: (x, k, 1), w: (w, 1, k), out_stride: n, scale: 1.0 }
        .run(out, Parallelism::None);
}

/// `gemm` does not split one row over threads, so it is done here: weights are read once.
fn matvec(x: &[f32], w: &[f32], out: &mut [f32], k: usize) {
    let rows = |(out, w): (&mut [f32], &[f32])| Arch::new().dispatch(Rows { x, w, out });
    if w.len() < SERIAL_BELOW {
        rows((out, w));
    } else {
        let share = out.len().div_ceil(SHARES * rayon::current_num_threads()).min(ROWS);
        out.par_chunks_mut(share).zip(w.par_chunks(share * k)).for_each(rows);
    }
}

/// Rows of weights against one row of activations. Compiled once for each width of vectors that
/// machines have; products and sums are never fused, so the bits are the same on all of them.
struct Rows<'a> {
    x: &'a [f32],
    w: &'a [f32],
    out: &'a mut [f32],
}

impl NullaryFnOnce for Rows<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "what is not inlined keeps the narrow vectors")]
    #[inline(always)]
    fn call(self) {
        let k = self.x.len();
        // Rows far apart are streams of their own: one alone leaves memory waiting.
        let apart = self.out.len() / STREAMS;
        for i in 0..apart {
            let rows = array::from_fn(|s| &self.w[(s * apart + i) * k..][..k]);
            let sums: [f32; STREAMS] = dots(self.x, rows);
            for (s, sum) in sums.into_iter().enumerate() {
                self.out[s * apart + i] = sum;
            }
        }
        for i in STREAMS * apart..self.out.len() {
            [self.out[i]] = dots(self.x, [&self.w[i * k..][..k]]);
        }
    }
}

/// Products of one row with `R` others, each in the same order whatever `R` is.
#[expect(clippy::inline_always, reason = "what is not inlined keeps the narrow vectors")]
#[inline(always)]
fn dots<const R: usize>(x: &[f32], rows: [&[f32]; R]) -> [f32; R] {
    let mut lanes = [[0.0_f32; LANES]; R];
    let (xs, rest) = x.as_chunks::<LANES>();
    let rows = rows.map(|row| row.as_chunks::<LANES>());
    for (i, x) in xs.iter().enumerate() {
        for (lanes, (blocks, _)) in lanes.iter_mut().zip(&rows) {
            let block = &blocks[i];
            fetch_ahead(block);
            for l in 0..LANES {
                lanes[l] += x[l] * block[l];
            }
        }
    }
    array::from_fn(|r| {
        let tail: f32 = rest.iter().zip(rows[r].1).map(|(x, w)| x * w).sum();
        let lanes = &mut lanes[r];
        let mut width = LANES / 2;
        while width > 0 {
            for l in 0..width {
                lanes[l] += lanes[l + width];
            }
            width /= 2;
        }
        lanes[0] + tail
    })
}

/// Asks memory for what comes `AHEAD` numbers later. The hardware's own guess stops at each page,
/// and a row of weights is shorter than one.
#[inline]
fn fetch_ahead(block: &[f32; LANES]) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let ahead = block.as_ptr().wrapping_add(AHEAD).cast::<i8>();
        for line in [ahead, ahead.wrapping_add(64)] {
            // SAFETY: a prefetch reads nothing: any address may be given, mapped or not.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = block;
}

/// A product of strided matrices: `out[i, j] = scale · Σ x[i, p] · w[p, j]`, one thread.
///
/// `x` and `w` come with their row and column strides; rows of `out` are `out_stride` apart.
/// References are made of the same in f64.
pub struct Gemm<'a, T = f32> {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub x: (&'a [T], usize, usize),
    pub w: (&'a [T], usize, usize),
    pub out_stride: usize,
    pub scale: T,
}

/// What there are products of: `gemm` knows no other types by name alone.
pub trait Real: Copy + Default + 'static {}

impl Real for f32 {}
impl Real for f64 {}

impl<T: Real> Gemm<'_, T> {
    pub fn serial(&self, out: &mut [T]) {
        self.run(out, Parallelism::None);
    }

    fn run(&self, out: &mut [T], threads: Parallelism) {
        let Self { m, n, k, .. } = *self;
        if m == 0 || n == 0 {
            return;
        }
        let last = |rows: usize, columns: usize, strides: (usize, usize)| {
            (rows - 1) * strides.0 + columns.saturating_sub(1) * strides.1
        };
        assert!(k > 0 && last(m, k, (self.x.1, self.x.2)) < self.x.0.len(), "x of a gemm");
        assert!(last(k, n, (self.w.1, self.w.2)) < self.w.0.len(), "w of a gemm");
        assert!(self.out_stride >= n && last(m, n, (self.out_stride, 1)) < out.len(), "its out");
        // SAFETY: the last element that each matrix touches was checked just above, `out` is
        // borrowed mutably and so apart from the two inputs, and rows of `out` do not overlap.
        unsafe {
            gemm::gemm(
                m,
                n,
                k,
                out.as_mut_ptr(),
                1,
                self.out_stride.cast_signed(),
                false,
                self.x.0.as_ptr(),
                self.x.2.cast_signed(),
                self.x.1.cast_signed(),
                self.w.0.as_ptr(),
                self.w.2.cast_signed(),
                self.w.1.cast_signed(),
                T::default(),
                self.scale,
                false,
                false,
                false,
                threads,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(seed: u32, count: usize) -> Vec<f32> {
        let noise = |i: u32| i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 8;
        (0..count as u32).map(|i| noise(i) as f32 / 8_388_608.0 - 1.0).collect()
    }

    #[test]
    fn it_is_the_plain_triple_loop() {
        for (m, n, k) in [(1, 7, 5), (1, 300, 333), (2, 3, 40), (65, 130, 96), (33, 1, 1)] {
            let (x, w) = (values(1, m * k), values(2, n * k));
            let mut out = vec![f32::NAN; m * n];
            matmul(&x, &w, &mut out, m, k);
            for (i, got) in out.iter().enumerate() {
                let (row, column) = (i / n, i % n);
                let terms =
                    (0..k).map(|p| f64::from(x[row * k + p]) * f64::from(w[column * k + p]));
                assert!((terms.sum::<f64>() - f64::from(*got)).abs() < 1e-4, "{m} {n} {k} at {i}");
            }
        }
    }
}
