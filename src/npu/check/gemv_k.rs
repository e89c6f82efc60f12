//! A GEMV's depth is cut into chunks of 32, and a queue push repeats 255 times at most.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let Kernel::Gemv { k, .. } = launch.kernel else { return None };
    let (split, most) = (launch.tile.k_l2, array.dma.repeat_max);
    let fits = if split == 0 { k <= 32 * most } else { k % split == 0 && split <= most };
    if fits {
        return None;
    }
    let text =
        format!("aiex.npu.push_queue repeat count exceeds [0:{most}]: k {k}, k_split {split}");
    let hint = format!("set k_l2 (k_split) to {}", (k / 128).max(1));
    Some(Finding::error("", text).rule("gemv-k").hint(hint))
}
