//! Element-wise work divides over the herd in whole steps of whole vectors.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let (Kernel::SiluMul { elements }
    | Kernel::Gelu { elements }
    | Kernel::Add { elements }
    | Kernel::Cast { elements }) = launch.kernel
    else {
        return None;
    };
    let tiles = launch.herd[0].saturating_mul(launch.herd[1]);
    let step = launch.tile.n.saturating_mul(tiles);
    let whole = |size: usize, of: usize| of > 0 && size.is_multiple_of(of);
    if launch.tile.n > 0 && whole(launch.tile.n, 16) && whole(elements, step) {
        return None;
    }
    let text = format!(
        "{elements} elements are not a multiple of tile_n · tiles = {} · {tiles}, or tile_n not of 16",
        launch.tile.n
    );
    let hint = "choose tile_n that divides the share of a tile, or fewer tiles";
    Some(Finding::error("", text).rule("vector-divides").hint(hint))
}
