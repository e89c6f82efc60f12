//! A GEMM's depth fits the memory tile of its column.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch, Method};

/// `4·k_l2·(tm+tn) + acc·tm·tn·herd rows ≤ L2`: reconstructed in `shared/npu/legality.md`, without
/// an exception in 151 rows, eight of which sit exactly at the limit.
pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let Kernel::Gemm { method, .. } = launch.kernel else { return None };
    let tile = launch.tile;
    let acc = match method {
        Method::FusedCast | Method::External => 4,
        Method::Drain | Method::Direct => 2,
    };
    let staged = tile.k_l2.saturating_mul(tile.m.saturating_add(tile.n)).saturating_mul(4);
    let result = tile.m.saturating_mul(tile.n).saturating_mul(launch.herd[1]).saturating_mul(acc);
    let need = staged.saturating_add(result);
    if need <= array.l2_bytes {
        return None;
    }
    let text =
        format!("L2 capacity: {need} bytes staged at k_l2 {}, {} there", tile.k_l2, array.l2_bytes);
    Some(Finding::error("", text).rule("gemm-l2").hint("halve k_l2"))
}
