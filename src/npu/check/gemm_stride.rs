//! The descriptor of a weight tile strides over whole rows of the weight.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// `k_l2·n` elements of bf16 are at most 2^21, which is the stride field in 32-bit words.
pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let Kernel::Gemm { n, .. } = launch.kernel else { return None };
    let words = launch.tile.k_l2.saturating_mul(n) / 2;
    if words <= array.dma.stride_max_words {
        return None;
    }
    let text = format!(
        "aie.dma_bd stride {words} exceeds [1:{}] (k_l2 {} · n {n})",
        array.dma.stride_max_words, launch.tile.k_l2
    );
    Some(Finding::error("", text).rule("gemm-stride").hint("halve k_l2: 64 or 128 for wide n"))
}
