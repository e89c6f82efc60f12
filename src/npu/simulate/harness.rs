//! Inputs of one kernel alone, drawn as the published harness draws them.
//!
//! Operands of a product are N(0, 1)/√K, all others N(0, 1); both are rounded to bf16, but for what
//! a cast reads. Source: `shared/npu/numerics.md` and its scripts. Each value depends on the seed
//! and its own place, so that any number of threads draws the same.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::npu::Kernel;
use crate::tensor::round::bf16_rne;

/// Values that are drawn from one stream.
const SHARE: usize = 1 << 14;
/// Base of the angles, and the position after which the harness begins again.
const THETA: f64 = 500_000.0;
const POSITIONS: usize = 2048;

/// One seed's values, in as many independent streams as are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Harness {
    pub seed: u64,
    /// Small shapes are drawn again and again.
    pub draw: u64,
}

impl Harness {
    /// The inputs of a kernel, in the order of its form.
    pub(super) fn inputs(self, kernel: &Kernel) -> Vec<Vec<f32>> {
        let wanted = kernel.operands().inputs;
        let unit = |at: usize| self.rounded(at, wanted[at].elements, 1.0);
        match *kernel {
            Kernel::Gemm { k, .. } | Kernel::Gemv { k, .. } => {
                let scale = 1.0 / (k as f64).sqrt();
                (0..wanted.len()).map(|at| self.rounded(at, wanted[at].elements, scale)).collect()
            }
            Kernel::Cast { elements } => vec![self.normal(0, elements, |x| x as f32)],
            Kernel::Rope { rows, width } => vec![unit(0), turns(rows, width)],
            _ => (0..wanted.len()).map(unit).collect(),
        }
    }

    /// One operand anew, where the others stay as they are.
    pub(super) fn rounded(self, operand: usize, count: usize, scale: f64) -> Vec<f32> {
        self.normal(operand, count, |x| bf16_rne((scale * x) as f32))
    }

    fn normal(self, operand: usize, count: usize, make: impl Fn(f64) -> f32 + Sync) -> Vec<f32> {
        let mut out = vec![0.0; count];
        let seed = ChaCha8Rng::seed_from_u64(self.seed);
        out.par_chunks_mut(SHARE).enumerate().for_each(|(share, out)| {
            let mut random = seed.clone();
            random.set_stream(self.draw << 40 | (operand as u64) << 32 | share as u64);
            // Two uniform numbers make two normal ones (Box and Muller).
            for pair in out.chunks_mut(2) {
                let (a, b): (f64, f64) = (random.random(), random.random());
                let radius = (-2.0 * (1.0 - a).ln()).sqrt();
                let (sin, cos) = (std::f64::consts::TAU * b).sin_cos();
                pair[0] = make(radius * cos);
                if let Some(second) = pair.get_mut(1) {
                    *second = make(radius * sin);
                }
            }
        });
        out
    }
}

/// Cosines, then sines, half a row each; row after row is one position further.
fn turns(rows: usize, width: usize) -> Vec<f32> {
    let half = width / 2;
    let mut table = vec![0.0; rows * width];
    table.par_chunks_mut(width).enumerate().for_each(|(row, table)| {
        let (cos, sin) = table.split_at_mut(half);
        for j in 0..half {
            let slower = THETA.powf(-2.0 * j as f64 / width as f64);
            let (s, c) = ((row % POSITIONS) as f64 * slower).sin_cos();
            (cos[j], sin[j]) = (bf16_rne(c as f32), bf16_rne(s as f32));
        }
    });
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_normal_and_on_the_grid() {
        let harness = Harness { seed: 1, draw: 0 };
        let kernel = Kernel::Gemv { k: 256, n: 512 };
        let inputs = harness.inputs(&kernel);
        let w = &inputs[1];
        assert!(w.iter().all(|x| bf16_rne(*x) == *x));
        let mean = w.iter().sum::<f32>() / w.len() as f32;
        let square = w.iter().map(|x| x * x).sum::<f32>() / w.len() as f32;
        assert!(mean.abs() < 1e-3 && (square * 256.0 - 1.0).abs() < 0.02, "{mean} {square}");
        assert_eq!(inputs, harness.inputs(&kernel));
        assert_ne!(inputs[0], Harness { draw: 1, ..harness }.inputs(&kernel)[0]);
        assert_ne!(inputs[0], Harness { seed: 2, ..harness }.inputs(&kernel)[0]);
        assert_ne!(inputs[0][..], inputs[1][..256]);
    }
}
