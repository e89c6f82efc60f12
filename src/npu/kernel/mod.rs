//! The kernels: one file each says what it computes, its operands and what its tile means.

mod add;
mod bias_add;
mod cast;
mod flash_attention;
mod form;
mod gelu;
mod gemm;
mod gemv;
mod layer_norm;
mod rms_norm;
mod rope;
mod silu_mul;
mod table;

pub use form::{Fit, Form, Operand, Operands};
