//! What a kernel computes and takes: its name, operands in order, streams, sizes and errors.

use crate::npu::program::Dtype;

/// The written form of one kernel. Each has a file of its own, whose head says what it needs and
/// costs. Marks beside numbers: S read in driver or compiler source, D vendor document, M measured
/// on silicon and published, I inferred from published measurements.
#[derive(Debug)]
pub struct Form {
    /// Its name in program files.
    pub name: &'static str,
    /// What published tables and other programs call it.
    pub aliases: &'static [&'static str],
    pub computes: &'static str,
    /// Operands in the order in which a launch lists them.
    pub inputs: &'static [&'static str],
    pub outputs: &'static [&'static str],
    /// Its sizes, in the order of the `dims` of published tables, and one published shape.
    pub sizes: &'static [&'static str],
    pub published: &'static [usize],
    /// What the four numbers of a tile mean here.
    pub tile: &'static str,
    /// Streams between a core and memory, which limit how many tiles can be fed.
    pub streams: usize,
    /// Element-wise bar against FP32.
    pub rtol: f64,
    pub atol: f64,
    /// Published mean error relative to the mean magnitude, of the shape that is deployed most;
    /// none where no table has one. `Kernel::published_error` knows what it depends on.
    pub mean_rel_l1: Option<f64>,
    pub band: Band,
    /// What stands in for a unit of the array whose table nobody published.
    pub surrogate: Option<&'static str>,
}

/// How far the mean error of the simulated kernel may be from the published one, on the inputs of
/// the published harness. Source: `shared/npu/numerics.md` §5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Band {
    /// Percent to either side: to be more accurate than the device is a failure too.
    TwoSided(f64),
    /// At most so much, where the device errs by next to nothing.
    AtMost(f64),
    /// Nothing was published.
    Open,
}

/// One operand as the kernel needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    pub name: &'static str,
    /// Elements, or how many must divide evenly into this when `Fit::Divides`.
    pub elements: usize,
    pub dtype: Dtype,
    pub fit: Fit,
}

/// How a buffer must match an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Exact,
    /// A table that several rows share: its elements divide the operand's.
    Divides,
}

impl Operand {
    pub(super) fn bf16(name: &'static str, elements: usize) -> Self {
        Self { name, elements, dtype: Dtype::Bf16, fit: Fit::Exact }
    }

    pub(super) fn f32(name: &'static str, elements: usize) -> Self {
        Self { name, elements, dtype: Dtype::F32, fit: Fit::Exact }
    }

    pub(super) fn shared(self) -> Self {
        Self { fit: Fit::Divides, ..self }
    }
}

/// Operands of one launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operands {
    pub inputs: Vec<Operand>,
    pub outputs: Vec<Operand>,
}

/// Product that stays at the largest number instead of wrapping.
pub(super) fn product(sizes: &[usize]) -> usize {
    sizes.iter().fold(1, |all, size| all.saturating_mul(*size))
}

/// The surrogate that SiLU and GELU share.
pub(super) const TANH: &str =
    "tanh is a step surrogate (cells of 1/16) of a unit whose table is not published";
