//! The input vector of a GEMV is fetched once for each block of rows; many fetches make it warn.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// Rule C says 255 and one measured row (49152 × 2048) runs at 767, so this is no error.
pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let Kernel::Gemv { n, .. } = launch.kernel else { return None };
    let step = launch.herd[0].saturating_mul(launch.tile.k_l1).max(1);
    let repeats = (n / step).saturating_sub(1);
    if repeats <= array.dma.repeat_max {
        return None;
    }
    let text = format!(
        "aiex.npu.push_queue repeat count exceeds [0:{}]: {repeats} fetches of the vector",
        array.dma.repeat_max
    );
    let hint = "raise m_input towards tile_m, or cut n into more parts";
    Some(Finding::warning("", text).rule("gemv-b-reads").hint(hint))
}
