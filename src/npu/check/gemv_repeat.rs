//! The input vector of a GEMV is fetched once for each block of rows; many fetches make it warn.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// Rows of a part of an LM head with tiles of 16 × 16 (`shared/npu/legality.md`).
const PART: usize = 8_192;

/// Rule C says 255 and one measured row (49152 × 2048) runs at 767, so this is no error.
pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let Kernel::Gemv { n, .. } = launch.kernel else { return None };
    let step = launch.herd[0].saturating_mul(launch.tile.k_l1).max(1);
    // Run alone at 16384 rows, but the heads of published deployments keep to 8192 a part.
    if launch.tile.m == 16 && launch.tile.k_l1 == 16 && n > PART {
        let text = format!("{n} rows in tiles of 16 with m_input 16: {PART} are known to repeat");
        let hint = "use tile_m 8, or cut n into more parts";
        return Some(Finding::warning("", text).rule("gemv-b-reads").hint(hint));
    }
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
