//! Short sequences at great depth were seen to go wrong; published rows contradict it, so it warns.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::Gemm { m, k, .. } = launch.kernel else { return None };
    if m >= 512 || k < 2560 || launch.tile.m <= 32 {
        return None;
    }
    let text = format!("m {m} below 512 at k {k} with tile_m {}: reported wrong", launch.tile.m);
    Some(Finding::warning("", text).rule("gemm-rows").hint("use tile_m 32 or 512 rows"))
}
