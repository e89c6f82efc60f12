//! One element-wise tiling that is known to corrupt without an error.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// Source: `shared/npu/legality.md`. A step of 1920 works for the same tensor.
pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::Add { elements: 245_760 } = launch.kernel else { return None };
    if launch.tile.n != 2048 {
        return None;
    }
    let text = "silent wrong data: add of 245760 elements with tile_n 2048";
    Some(Finding::error("", text).rule("vector-deny").hint("use tile_n 1920"))
}
