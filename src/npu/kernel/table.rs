//! The kernels there are: the form, the operands and the work of each.

use super::form::{Form, Operands};
use super::{
    add, bias_add, cast, flash_attention, gelu, gemm, gemv, layer_norm, rms_norm, rope, silu_mul,
};
use crate::npu::program::Kernel;

impl Kernel {
    pub fn form(&self) -> &'static Form {
        match self {
            Self::Gemm { .. } => &gemm::FORM,
            Self::Gemv { .. } => &gemv::FORM,
            Self::FlashAttention { .. } => &flash_attention::FORM,
            Self::RmsNorm { .. } => &rms_norm::FORM,
            Self::LayerNorm { .. } => &layer_norm::FORM,
            Self::Rope { .. } => &rope::FORM,
            Self::SiluMul { .. } => &silu_mul::FORM,
            Self::Gelu { .. } => &gelu::FORM,
            Self::Add { .. } => &add::FORM,
            Self::BiasAdd { .. } => &bias_add::FORM,
            Self::Cast { .. } => &cast::FORM,
        }
    }

    pub fn name(&self) -> &'static str {
        self.form().name
    }

    /// What buffers the launch must name. Sizes saturate: a program file may say anything.
    pub fn operands(&self) -> Operands {
        match *self {
            Self::Gemm { m, k, n, method } => gemm::operands(m, k, n, method),
            Self::Gemv { k, n } => gemv::operands(k, n),
            Self::FlashAttention { queries, keys, heads, kv_heads, head_dim, .. } => {
                flash_attention::operands(queries, keys, heads, kv_heads, head_dim)
            }
            Self::RmsNorm { rows, width } => rms_norm::operands(rows, width),
            Self::LayerNorm { rows, width } => layer_norm::operands(rows, width),
            Self::Rope { rows, width } => rope::operands(rows, width),
            Self::SiluMul { elements } => silu_mul::operands(elements),
            Self::Gelu { elements } => gelu::operands(elements),
            Self::Add { elements } => add::operands(elements),
            Self::BiasAdd { rows, width } => bias_add::operands(rows, width),
            Self::Cast { elements } => cast::operands(elements),
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
