//! What each kernel computes on the array, rounding as the array rounds.

mod add;
mod bias_add;
mod cast;
mod elementwise;
mod flash_attention;
mod gelu;
mod gemm;
mod gemv;
mod layer_norm;
mod rms_norm;
mod rope;
mod silu_mul;

pub(crate) use add::add;
pub(crate) use bias_add::bias_add;
pub(crate) use cast::cast;
pub(crate) use flash_attention::{Attention, flash_attention};
pub(crate) use gelu::gelu;
pub(crate) use gemm::{gemm, pack};
pub(crate) use gemv::gemv;
pub(crate) use layer_norm::layer_norm;
pub(crate) use rms_norm::rms_norm;
pub(crate) use rope::rope;
pub(crate) use silu_mul::silu_mul;
