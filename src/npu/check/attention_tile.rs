//! FlashAttention runs as it was measured: 256 queries a pass in tiles of 64, 64 keys a chunk.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// Queries and keys a pass: in four tiles for two heads at once, or in eight for one.
const TILES: [(usize, usize); 2] = [(256, 64), (512, 64)];
/// The whole array, and one half of it.
const HERDS: [[usize; 2]; 2] = [[8, 4], [4, 4]];

/// Rule N. Other sizes hang (32) or do not place (128), so what is unmeasured is refused.
pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::FlashAttention { queries, keys, head_dim, .. } = launch.kernel else {
        return None;
    };
    let tile = launch.tile;
    let text = if !TILES.contains(&(tile.m, tile.k_l1)) {
        format!("unmeasured: lqp {} and lkp {}, known to run are 256 and 64", tile.m, tile.k_l1)
    } else if !HERDS.contains(&launch.herd) {
        format!("herd {:?}: two segments of 4 × 4 make 8 × 4", launch.herd)
    } else if head_dim != 64 && head_dim != 128 {
        format!("unmeasured: head_dim {head_dim}, known to run are 64 and 128")
    } else if queries == 0 || queries % 256 != 0 || keys == 0 || keys % 256 != 0 {
        format!("{queries} queries and {keys} keys are not multiples of 256")
    } else {
        return None;
    };
    let hint = "lqp 256, lkp 64, herd 8 × 4, a compiled sequence in steps of 256";
    Some(Finding::error("", text).rule("fa-tile").hint(hint))
}
