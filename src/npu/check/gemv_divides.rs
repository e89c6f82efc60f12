//! A GEMV's rows divide over its herd, and its depth over the vector lanes.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::Gemv { k, n } = launch.kernel else { return None };
    let (tile, [cols, rows]) = (launch.tile, launch.herd);
    let rest = |size: usize, step: usize| step == 0 || size == 0 || !size.is_multiple_of(step);
    let text = if tile.m < 2 || tile.m % 2 != 0 {
        format!("tile_m {} is not an even number of rows", tile.m)
    } else if rows != 1 {
        format!("herd of {rows} rows: a GEMV uses one")
    } else if rest(n, tile.m.saturating_mul(cols)) {
        format!(
            "silent wrong data: n {n} is not a multiple of tile_m · herd columns = {} · {cols}",
            tile.m
        )
    } else if rest(k, 64) {
        format!("k {k} is not a multiple of 64")
    } else if rest(tile.m, tile.k_l1) {
        format!("m_input {} does not divide tile_m {}", tile.k_l1, tile.m)
    } else {
        return None;
    };
    let hint = "choose tile_m of 2, 4, 8 or 16 with n % (tile_m · columns) = 0";
    Some(Finding::error("", text).rule("gemv-divides").hint(hint))
}
