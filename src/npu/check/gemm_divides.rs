//! A GEMM's shape divides over tile and herd: rows and columns that do not are silently wrong.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// Rules F, G and H of `shared/npu/kernels.toml`. The compiler asserts depth alone.
pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::Gemm { m, k, n, .. } = launch.kernel else { return None };
    let (tile, [cols, rows]) = (launch.tile, launch.herd);
    let rest = |size: usize, step: usize| step == 0 || size == 0 || !size.is_multiple_of(step);
    let (down, across) = (tile.m.saturating_mul(cols), tile.n.saturating_mul(rows));
    if rest(m, down) {
        let text = format!(
            "silent wrong data: m {m} is not a multiple of tile_m · herd columns = {} · {cols}",
            tile.m
        );
        let hint = "take a smaller tile_m or herd, or a longer sequence";
        return Some(Finding::error("", text).rule("gemm-m").hint(hint));
    }
    if rest(n, across) {
        let text = format!(
            "silent wrong data, cosine about 0.02: n {n} is not a multiple of tile_n · herd rows = {} · {rows}",
            tile.n
        );
        let hint = "shrink tile_n (32, 48, 64, 80, 96), or pad n with `pad-dims`";
        return Some(Finding::error("", text).rule("gemm-n").hint(hint));
    }
    if rest(k, tile.k_l2) || rest(tile.k_l2, tile.k_l1) {
        let text = format!(
            "k {k}, k_l2 {}, k_l1 {}: each must divide the one before",
            tile.k_l2, tile.k_l1
        );
        let hint = "choose k_l2 that divides k and k_l1 that divides k_l2";
        return Some(Finding::error("", text).rule("gemm-k").hint(hint));
    }
    None
}
