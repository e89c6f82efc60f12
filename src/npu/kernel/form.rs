//! What a kernel computes and takes: its name, operands in order, streams and sizes.

use crate::npu::program::Dtype;

/// The written form of one kernel. Each has a file of its own.
#[derive(Debug)]
pub struct Form {
    /// Its name in program files.
    pub name: &'static str,
    pub computes: &'static str,
    /// Operands in the order in which a launch lists them.
    pub inputs: &'static [&'static str],
    pub outputs: &'static [&'static str],
    /// What the four numbers of a tile mean here.
    pub tile: &'static str,
    /// Streams between a core and memory, which limit how many tiles can be fed.
    pub streams: usize,
    /// Element-wise bar against FP32, and the published mean error relative to the mean magnitude.
    pub rtol: f64,
    pub atol: f64,
    pub mean_rel_l1: f64,
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
