//! How far one kernel of the simulated array is from FP32, beside what is published of the device.

use super::alone::{run_kernel_at, senseless};
use super::error::SimulateError;
use super::exact::exact;
use super::harness::Harness;
use crate::npu::{Band, Kernel, Method};
use crate::tensor::Comparison;

/// From so many elements on the mean error is sharp: smaller results are drawn again.
const ENOUGH: usize = 30_000;
const DRAWS: usize = 64;
/// Bytes that a value of an operand takes: as f32, as the array holds it, as f64, and one to spare.
const BYTES_A_VALUE: usize = 24;
/// What a run may take of memory and of time: the largest published product needs a third of one
/// and a seventh of the other.
const MOST_BYTES: usize = 8 << 30;
const MOST_OPERATIONS: f64 = 2e12;
/// Queries of causal attention that go through the kernel together when only some are taken.
const BLOCK: usize = 64;
/// The published absolute tolerance of the low tier (`shared/npu/kernels.toml`, `atol_low`).
const ATOL_DIRECT: f64 = 4e-3;

/// A kernel on the inputs of the published harness.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    pub kernel: Kernel,
    pub seed: u64,
    /// Of the blocks of 64 queries of causal attention each so-many-th is taken; 1 takes all, and
    /// at least one must be left.
    pub every: usize,
}

/// The error of one kernel. The reference is computed in f64 and stored once, to nearest even, in
/// the type of the result, as the published harness does.
#[derive(Clone, Debug)]
pub struct Statistics {
    pub comparison: Comparison,
    /// How often inputs were drawn.
    pub draws: usize,
    pub rtol: f64,
    pub atol: f64,
    /// Share of the elements that are off by more than `atol + rtol · |reference|`.
    pub outside: f64,
    /// Mean error of the device relative to the mean magnitude, where one is published.
    pub published: Option<f64>,
    /// Where the simulated mean error must lie; from 0 where only its size matters.
    pub band: Option<[f64; 2]>,
    pub surrogate: Option<&'static str>,
}

/// A part of a kernel's work: the kernel of that part, its inputs, and the position of its first
/// query.
type Part<'a> = (Kernel, std::borrow::Cow<'a, [Vec<f32>]>, usize);

impl Statistics {
    /// Whether the mean error lies in its band; none where there is no band.
    pub fn is_inside(&self) -> Option<bool> {
        let error = self.comparison.mean_rel_l1;
        self.band
            .map(|[low, high]| self.comparison.non_finite == 0 && low <= error && error <= high)
    }
}

impl Trial {
    pub fn new(kernel: Kernel, seed: u64) -> Self {
        Self { kernel, seed, every: 1 }
    }

    /// Draws, runs and compares. Refuses what makes no sense, and what would not fit, before
    /// anything is allocated.
    pub fn run(&self) -> Result<Statistics, SimulateError> {
        let kernel = self.kernel;
        refuse(&kernel)?;
        let (mut expected, mut got, mut draws) = (Vec::new(), Vec::new(), 0);
        let mut inputs = Vec::new();
        while draws < DRAWS && expected.len() < ENOUGH {
            let harness = Harness { seed: self.seed, draw: draws as u64 };
            match kernel {
                // A GEMV does not round its weight: another vector is another case.
                Kernel::Gemv { k, .. } if draws > 0 => {
                    inputs[0] = harness.rounded(0, k, 1.0 / (k as f64).sqrt());
                }
                _ => inputs = harness.inputs(&kernel),
            }
            for (part, inputs, offset) in self.parts(&inputs) {
                expected.extend(exact(&part, &inputs, offset));
                let inputs: Vec<&[f32]> = inputs.iter().map(Vec::as_slice).collect();
                got.extend(run_kernel_at(&part, &inputs, offset)?);
            }
            draws += 1;
        }
        Ok(self.statistics(&expected, &got, draws))
    }

    /// All at once, or blocks of the queries that causal attention has, evenly spread: how much a
    /// query sees is what its error depends on, so that a run of neighbours would not do.
    fn parts<'a>(&self, inputs: &'a [Vec<f32>]) -> Vec<Part<'a>> {
        let (every, kernel) = (self.every.max(1), self.kernel);
        let Kernel::FlashAttention { queries, keys, heads, kv_heads, head_dim, causal } = kernel
        else {
            return vec![(kernel, inputs.into(), 0)];
        };
        let first = keys.saturating_sub(queries);
        if every == 1 || !causal {
            return vec![(kernel, inputs.into(), first)];
        }
        let width = heads * head_dim;
        // From the middle of each stretch: the first block sees so few keys that its results are
        // large, and would stand for many that are small.
        let blocks = (0..queries).step_by(BLOCK).skip(every / 2).step_by(every);
        blocks
            .map(|from| {
                let queries = BLOCK.min(queries - from);
                let q = inputs[0][from * width..(from + queries) * width].to_vec();
                let kernel =
                    Kernel::FlashAttention { queries, keys, heads, kv_heads, head_dim, causal };
                let inputs = vec![q, inputs[1].clone(), inputs[2].clone()];
                (kernel, inputs.into(), first + from)
            })
            .collect()
    }

    fn statistics(&self, expected: &[f32], got: &[f32], draws: usize) -> Statistics {
        let form = self.kernel.form();
        let atol = match self.kernel {
            Kernel::Gemm { method: Method::Direct, .. } => ATOL_DIRECT,
            _ => form.atol,
        };
        // What is no number is not within.
        let within = |(x, y): &(&f32, &f32)| {
            let (x, y) = (f64::from(**x), f64::from(**y));
            (y - x).abs() <= atol + form.rtol * x.abs()
        };
        let inside = expected.iter().zip(got).filter(within).count();
        let published = self.kernel.published_error();
        let band = match (form.band, published) {
            (Band::TwoSided(percent), Some(error)) => {
                Some([1.0 - percent / 100.0, 1.0 + percent / 100.0].map(|side| side * error))
            }
            (Band::AtMost(most), _) => Some([0.0, most]),
            _ => None,
        };
        Statistics {
            comparison: Comparison::of(expected, got),
            draws,
            rtol: form.rtol,
            atol,
            outside: 1.0 - inside as f64 / expected.len().max(1) as f64,
            published,
            band,
            surrogate: form.surrogate,
        }
    }
}

/// What is wrong with the sizes themselves, or with how much they ask for.
fn refuse(kernel: &Kernel) -> Result<(), SimulateError> {
    senseless(kernel)?;
    let operands = kernel.operands();
    let values = operands.inputs.iter().chain(&operands.outputs);
    let values = values.fold(0_usize, |all, operand| all.saturating_add(operand.elements));
    let name = kernel.name();
    let hint = "take a smaller shape: m, n, rows and elements hardly change the statistics";
    let bytes = values.saturating_mul(BYTES_A_VALUE);
    if bytes > MOST_BYTES {
        let gib = |bytes: usize| bytes as f64 / (1_u64 << 30) as f64;
        let text = format!(
            "`{name}` of these sizes needs about {:.3e} GiB of memory, at most {} GiB are taken",
            gib(bytes),
            gib(MOST_BYTES)
        );
        return Err(SimulateError::input(text, hint));
    }
    if kernel.flops() > MOST_OPERATIONS {
        let text = format!(
            "`{name}` of these sizes takes {:.1e} operations, at most {MOST_OPERATIONS:.0e} are run",
            kernel.flops()
        );
        return Err(SimulateError::input(text, hint));
    }
    Ok(())
}
