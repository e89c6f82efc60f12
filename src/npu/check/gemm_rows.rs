//! Fewer than 512 rows at great depth in tall tiles are silently wrong.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// Source: `shared/npu/kernels.md` §3, "seq < 512 at K >= 2560", seen with tiles of 64 rows. Rows
/// that contradict it (64 × 12288 × 960 among them) were timed with tiles of 16 and 32, so those go
/// free.
pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::Gemm { m, k, .. } = launch.kernel else { return None };
    if m >= 512 || k < 2560 || launch.tile.m <= 32 {
        return None;
    }
    let text = format!(
        "silent wrong data: m {m} below 512 at k {k} with tile_m {} was reported wrong",
        launch.tile.m
    );
    Some(Finding::error("", text).rule("gemm-rows").hint("use tile_m 32 or 512 rows"))
}
