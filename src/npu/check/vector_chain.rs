//! Long element-wise chains were reported to run out of descriptors; larger ones were timed.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// Rule U: `n/8 ≤ 16·32·tile_n`. SwiGLU over 2048 × 9728 breaks it and runs, so it warns.
pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let (Kernel::SiluMul { elements } | Kernel::Gelu { elements } | Kernel::Add { elements }) =
        launch.kernel
    else {
        return None;
    };
    let most = array.dma.shim_descriptors * array.dma.chain_repeats;
    let share = elements / launch.herd[0].max(1);
    if share <= most.saturating_mul(launch.tile.n) {
        return None;
    }
    let text = format!(
        "Allocator exhausted available buffer descriptor IDs: {share} elements a column, \
         {most} steps of {}",
        launch.tile.n
    );
    Some(Finding::warning("", text).rule("eltwise-bd").hint("raise tile_n to 4096"))
}
