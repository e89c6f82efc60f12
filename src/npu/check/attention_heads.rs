//! FlashAttention unrolls two heads: their number is even and divides over the key heads.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::FlashAttention { heads, kv_heads, .. } = launch.kernel else { return None };
    if heads > 0 && heads % 2 == 0 && kv_heads > 0 && heads % kv_heads == 0 {
        return None;
    }
    let text = format!(
        "{heads} query heads on {kv_heads} key heads: odd head count not divisible by \
         heads_per_unroll 2"
    );
    let hint = "add phantom query heads inside each group with `pad-heads`";
    Some(Finding::error("", text).rule("fa-heads").hint(hint))
}
