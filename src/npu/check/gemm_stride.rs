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
    let most = array.dma.stride_max_words;
    // The compiler's message names the number, notes about it leave it out: either finds this.
    let text = format!(
        "aie.dma_bd stride exceeds [1:{most}]: stride {words} exceeds the [1:{most}] range \
         (k_l2 {} · n {n})",
        launch.tile.k_l2
    );
    Some(Finding::error("", text).rule("gemm-stride").hint("halve k_l2: 64 or 128 for wide n"))
}
