//! A GEMV's staged block of rows fits one memory tile.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// `columns·tile_m·(k+1)·2 ≤ L2`, without an exception in 39 rows of `shared/npu/legality.md`.
pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let Kernel::Gemv { k, .. } = launch.kernel else { return None };
    let rows = launch.tile.m.saturating_mul(launch.herd[0]);
    let need = rows.saturating_mul(k.saturating_add(1)).saturating_mul(2);
    if need <= array.l2_bytes {
        return None;
    }
    let text =
        format!("L2 capacity: {need} bytes for {rows} rows of {k}, {} there", array.l2_bytes);
    Some(Finding::error("", text).rule("gemv-l2").hint("lower tile_m: 2 for k of 8192 and more"))
}
