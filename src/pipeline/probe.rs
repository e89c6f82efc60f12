//! Inputs whose result is known to the bit: integers that every rounding on the way leaves alone.

use super::device::run_kernel;
use super::fault::word;
use crate::npu::Kernel;

/// Inputs of one kernel, and what must come back.
pub(super) struct Probe {
    pub name: &'static str,
    inputs: Vec<Vec<f32>>,
    expected: Vec<f32>,
}

impl Probe {
    /// How many elements are not what they must be.
    pub(super) fn run(&self, kernel: &Kernel) -> Result<usize, String> {
        let inputs: Vec<&[f32]> = self.inputs.iter().map(Vec::as_slice).collect();
        let got = run_kernel(kernel, &inputs)?;
        let short = self.expected.len().abs_diff(got.len());
        // Zeros of either sign are the same number.
        let off = self.expected.iter().zip(&got).filter(|(expected, got)| expected != got);
        Ok(off.count() + short)
    }
}

/// Non-zero products of one sum: with factors of at most 8 no partial sum passes 256, as far as
/// bf16 counts.
const TERMS: usize = 4;

/// The probes of one kernel; none where nothing about it is exact.
pub(super) fn probes(kernel: &Kernel, seed: u64) -> Vec<Probe> {
    let integer = |salt: u64, at: usize, most: i32| -> f32 {
        let span = (2 * most + 1).cast_unsigned();
        ((word(seed ^ salt, at as u64) % span).cast_signed() - most) as f32
    };
    let integers = |salt: u64, count: usize, most: i32| -> Vec<f32> {
        (0..count).map(|at| integer(salt, at, most)).collect()
    };
    let made = |name, inputs, expected| vec![Probe { name, inputs, expected }];
    match *kernel {
        Kernel::Gemm { m, k, n, .. } => {
            let a = sparse(m, k, |at| integer(1, at, 8), seed);
            let w = integers(2, k * n, 8);
            let mut expected = vec![0.0; m * n];
            for (row, out) in expected.chunks_mut(n).enumerate() {
                for (p, x) in
                    a[row * k..(row + 1) * k].iter().enumerate().filter(|(_, x)| **x != 0.0)
                {
                    out.iter_mut().zip(&w[p * n..]).for_each(|(out, w)| *out += x * w);
                }
            }
            made("integers", vec![a, w], expected)
        }
        Kernel::Gemv { k, n } => {
            let x = sparse(1, k, |at| integer(1, at, 8), seed);
            let w = integers(2, k * n, 8);
            let dot = |w: &[f32]| w.iter().zip(&x).map(|(w, x)| w * x).sum();
            let expected = w.chunks(k).map(dot).collect();
            made("integers", vec![x.clone(), w], expected)
        }
        Kernel::Add { elements } => {
            let (a, b) = (integers(1, elements, 127), integers(2, elements, 127));
            let expected = a.iter().zip(&b).map(|(a, b)| a + b).collect();
            made("integers", vec![a, b], expected)
        }
        Kernel::BiasAdd { rows, width } => {
            let (x, bias) = (integers(1, rows * width, 127), integers(2, width, 127));
            let expected = x.iter().enumerate().map(|(at, x)| x + bias[at % width]).collect();
            made("integers", vec![x, bias], expected)
        }
        Kernel::Cast { elements } => {
            let x = integers(1, elements, 127);
            made("integers", vec![x.clone()], x)
        }
        // Limits: positions that do not turn, rows of nothing, gates that are shut.
        Kernel::Rope { rows, width } => {
            let x = integers(1, rows * width, 127);
            let half = width / 2;
            let row = (0..width).map(|j| if j < half { 1.0 } else { 0.0 });
            let table = row.cycle().take(rows * width).collect();
            made("still", vec![x.clone(), table], x)
        }
        Kernel::RmsNorm { rows, width } => {
            let weight = integers(2, width, 8);
            made("nothing", vec![vec![0.0; rows * width], weight], vec![0.0; rows * width])
        }
        Kernel::SiluMul { elements } => {
            let up = integers(2, elements, 127);
            made("shut", vec![vec![0.0; elements], up], vec![0.0; elements])
        }
        Kernel::FlashAttention { queries, keys, heads, kv_heads, head_dim, .. } => {
            let q = integers(1, queries * heads * head_dim, 2);
            let k = integers(2, keys * kv_heads * head_dim, 2);
            let nothing = vec![0.0; keys * kv_heads * head_dim];
            made("nothing", vec![q, k, nothing], vec![0.0; queries * heads * head_dim])
        }
        Kernel::LayerNorm { .. } | Kernel::Gelu { .. } => Vec::new(),
    }
}

/// Rows with few numbers in them, at drawn places.
fn sparse(rows: usize, width: usize, value: impl Fn(usize) -> f32, seed: u64) -> Vec<f32> {
    let mut out = vec![0.0; rows * width];
    for (row, out) in out.chunks_mut(width).enumerate() {
        for term in 0..TERMS {
            let at = row * TERMS + term;
            let place = word(seed ^ 3, at as u64) as usize % width;
            out[place] = value(at);
        }
    }
    out
}
