//! The kernels there are: the form, the operands and the work of each.

use super::form::{Form, Operands};
use super::{
    add, bias_add, cast, flash_attention, gelu, gemm, gemv, layer_norm, rms_norm, rope, silu_mul,
};
use crate::npu::program::{Kernel, Method};

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

    /// All of them, each once.
    pub const FORMS: [&'static Form; 11] = [
        &gemm::FORM,
        &gemv::FORM,
        &flash_attention::FORM,
        &rms_norm::FORM,
        &layer_norm::FORM,
        &rope::FORM,
        &silu_mul::FORM,
        &gelu::FORM,
        &add::FORM,
        &bias_add::FORM,
        &cast::FORM,
    ];

    /// The published mean error relative to the mean magnitude, as far as one is published for
    /// sizes like these.
    pub fn published_error(&self) -> Option<f64> {
        match *self {
            Self::Gemm { k, method, .. } => gemm::published_error(k, method),
            Self::FlashAttention { keys, causal, .. } => {
                flash_attention::published_error(keys, causal)
            }
            _ => self.form().mean_rel_l1,
        }
    }

    pub fn name(&self) -> &'static str {
        self.form().name
    }

    /// Its sizes, in the order of its form.
    pub fn sizes(&self) -> Vec<usize> {
        match *self {
            Self::Gemm { m, k, n, .. } => vec![m, k, n],
            Self::Gemv { k, n } => vec![n, k],
            Self::FlashAttention { queries, keys, heads, kv_heads, head_dim, .. } => {
                vec![queries, keys, head_dim, heads, kv_heads]
            }
            Self::RmsNorm { rows, width }
            | Self::LayerNorm { rows, width }
            | Self::Rope { rows, width }
            | Self::BiasAdd { rows, width } => vec![rows, width],
            Self::SiluMul { elements }
            | Self::Gelu { elements }
            | Self::Add { elements }
            | Self::Cast { elements } => vec![elements],
        }
    }

    /// The kernel of a form with these sizes, in the form's order; `method` and `causal` matter to
    /// a GEMM and to attention. None when there are more or fewer sizes than it has.
    pub fn of(form: &Form, sizes: &[usize], method: Method, causal: bool) -> Option<Self> {
        Some(match (form.name, sizes) {
            ("gemm", &[m, k, n]) => Self::Gemm { m, k, n, method },
            ("gemv", &[n, k]) => Self::Gemv { k, n },
            ("flash-attention", &[queries, keys, head_dim, heads, kv_heads]) => {
                Self::FlashAttention { queries, keys, heads, kv_heads, head_dim, causal }
            }
            ("rms-norm", &[rows, width]) => Self::RmsNorm { rows, width },
            ("layer-norm", &[rows, width]) => Self::LayerNorm { rows, width },
            ("rope", &[rows, width]) => Self::Rope { rows, width },
            ("bias-add", &[rows, width]) => Self::BiasAdd { rows, width },
            ("silu-mul", &[elements]) => Self::SiluMul { elements },
            ("gelu", &[elements]) => Self::Gelu { elements },
            ("add", &[elements]) => Self::Add { elements },
            ("cast", &[elements]) => Self::Cast { elements },
            _ => return None,
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_makes_its_kernel_and_knows_its_sizes() {
        for form in Kernel::FORMS {
            let kernel = Kernel::of(form, form.published, Method::Drain, true).unwrap();
            assert_eq!(kernel.name(), form.name);
            assert_eq!(kernel.sizes(), form.published);
            assert_eq!(form.sizes.len(), form.published.len());
            assert!(Kernel::of(form, &[1; 4], Method::Drain, true).is_none());
        }
    }

    #[test]
    fn errors_are_published_for_sizes_near_those_that_were_run() {
        let direct = |k| Kernel::Gemm { m: 1, k, n: 1, method: Method::Direct }.published_error();
        assert_eq!([direct(511), direct(8193)], [None; 2]);
        assert_eq!([direct(512), direct(2048)], [Some(1.00e-2), Some(1.29e-2)]);
        assert!(direct(3072).is_some_and(|error| (1.37e-2..1.52e-2).contains(&error)));
        let attends = |keys, causal| {
            let (queries, heads, kv_heads, head_dim) = (64, 2, 2, 64);
            Kernel::FlashAttention { queries, keys, heads, kv_heads, head_dim, causal }
                .published_error()
        };
        assert_eq!(attends(700, false), Some(4.4e-2));
        assert_eq!(attends(2048, true), Some(3.9e-2));
        assert_eq!([attends(512, true), attends(usize::MAX, false), attends(0, true)], [None; 3]);
    }
}
