//! The L1 kernel of a GEMM works on blocks of 16 × 8 × 16.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::Gemm { .. } = launch.kernel else { return None };
    let tile = launch.tile;
    let whole = |size: usize, of: usize| size > 0 && size.is_multiple_of(of);
    if whole(tile.m, 16) && whole(tile.n, 16) && whole(tile.k_l1, 8) && tile.k_l2 > 0 {
        return None;
    }
    let text = format!(
        "tile m {}, k_l2 {}, k_l1 {}, n {} does not hold whole 16 × 8 × 16 blocks",
        tile.m, tile.k_l2, tile.k_l1, tile.n
    );
    let hint = "m and n must be multiples of 16, k_l1 of 8, none of them 0";
    Some(Finding::error("", text).rule("gemm-tile").hint(hint))
}
