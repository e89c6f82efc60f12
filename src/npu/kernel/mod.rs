//! The kernels: one file each says what it computes, needs and costs, and who says so.

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

pub use form::{Band, Fit, Form, Operand, Operands};
