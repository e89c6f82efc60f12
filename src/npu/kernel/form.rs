//! What a kernel computes and takes: its name, operands in order, streams and sizes.

use crate::npu::program::{Dtype, Kernel};

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

impl Kernel {
    pub fn form(&self) -> &'static Form {
        match self {
            Self::Gemm { .. } => &super::gemm::FORM,
            Self::Gemv { .. } => &super::gemv::FORM,
            Self::FlashAttention { .. } => &super::flash_attention::FORM,
            Self::RmsNorm { .. } => &super::rms_norm::FORM,
            Self::LayerNorm { .. } => &super::layer_norm::FORM,
            Self::Rope { .. } => &super::rope::FORM,
            Self::SiluMul { .. } => &super::silu_mul::FORM,
            Self::Gelu { .. } => &super::gelu::FORM,
            Self::Add { .. } => &super::add::FORM,
            Self::BiasAdd { .. } => &super::bias_add::FORM,
            Self::Cast { .. } => &super::cast::FORM,
        }
    }

    pub fn name(&self) -> &'static str {
        self.form().name
    }

    /// What buffers the launch must name. Sizes saturate: a program file may say anything.
    pub fn operands(&self) -> Operands {
        match *self {
            Self::Gemm { m, k, n, method } => super::gemm::operands(m, k, n, method),
            Self::Gemv { k, n } => super::gemv::operands(k, n),
            Self::FlashAttention { queries, keys, heads, kv_heads, head_dim, .. } => {
                super::flash_attention::operands(queries, keys, heads, kv_heads, head_dim)
            }
            Self::RmsNorm { rows, width } => super::rms_norm::operands(rows, width),
            Self::LayerNorm { rows, width } => super::layer_norm::operands(rows, width),
            Self::Rope { rows, width } => super::rope::operands(rows, width),
            Self::SiluMul { elements } => super::silu_mul::operands(elements),
            Self::Gelu { elements } => super::gelu::operands(elements),
            Self::Add { elements } => super::add::operands(elements),
            Self::BiasAdd { rows, width } => super::bias_add::operands(rows, width),
            Self::Cast { elements } => super::cast::operands(elements),
        }
    }

    /// Floating-point operations of one launch.
    pub fn flops(&self) -> f64 {
        let f = |n: usize| n as f64;
        match *self {
            Self::Gemm { m, k, n, .. } => 2.0 * f(m) * f(k) * f(n),
            Self::Gemv { k, n } => 2.0 * f(k) * f(n),
            Self::FlashAttention { queries, keys, heads, head_dim, causal, .. } => {
                let all = 4.0 * f(queries) * f(keys) * f(heads) * f(head_dim);
                if causal { all / 2.0 } else { all }
            }
            Self::RmsNorm { rows, width } => 4.0 * f(rows) * f(width),
            Self::LayerNorm { rows, width } => 8.0 * f(rows) * f(width),
            Self::Rope { rows, width } => 3.0 * f(rows) * f(width),
            Self::BiasAdd { rows, width } => f(rows) * f(width),
            Self::SiluMul { elements } => 5.0 * f(elements),
            Self::Gelu { elements } => 8.0 * f(elements),
            Self::Add { elements } | Self::Cast { elements } => f(elements),
        }
    }

    /// Bytes of its operands, each once: the least that a launch moves.
    pub fn least_bytes(&self) -> f64 {
        let operands = self.operands();
        let all = operands.inputs.iter().chain(&operands.outputs);
        all.map(|operand| operand.elements as f64 * operand.dtype.bytes() as f64).sum()
    }
}

/// Product that stays at the largest number instead of wrapping.
pub(super) fn product(sizes: &[usize]) -> usize {
    sizes.iter().fold(1, |all, size| all.saturating_mul(*size))
}
