//! Tilings that pass every assertion and return garbage: refused here, for nothing else will tell.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// Depth of the weight, then the k_l2 / k_l1 pairs that were seen to corrupt. Source:
/// `shared/npu/legality.md`; measured errors are 0.7 to 1.0 of the magnitude.
const DEPTHS: &[(usize, &[(usize, usize)])] =
    &[(720, &[(240, 48), (360, 40), (720, 48), (720, 80)]), (1440, &[(288, 32), (480, 32)])];

/// Shape `[m, k, n]` and the k_l2 that corrupts it; 0 stands for any size.
const SHAPES: &[([usize; 3], &[usize])] =
    &[([256, 320, 320], &[160]), ([256, 0, 960], &[160]), ([256, 960, 0], &[160])];

pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::Gemm { m, k, n, .. } = launch.kernel else { return None };
    let tile = launch.tile;
    let pair = (tile.k_l2, tile.k_l1);
    let by_depth = DEPTHS.iter().any(|(depth, pairs)| *depth == k && pairs.contains(&pair));
    let same = |a: usize, b: usize| a == 0 || a == b;
    let by_shape = SHAPES.iter().any(|(shape, depths)| {
        let [a, b, c] = *shape;
        same(a, m) && same(b, k) && same(c, n) && depths.contains(&tile.k_l2)
    });
    let narrow = [m, k, n] == [192, 320, 64] && [(160, 64), (64, 64), (320, 64)].contains(&pair);
    let thin = k == 896 && tile.n == 32;
    if !(by_depth || by_shape || narrow || thin) {
        return None;
    }
    let text = format!(
        "silent wrong data: k {k} with k_l2 {}, k_l1 {}, tile_n {} is known to return garbage",
        tile.k_l2, tile.k_l1, tile.n
    );
    let hint = "known good: k 720 → 144/48 or 240/80; 960 → 320/32; 320 → 320/32; 896 → tile_n 64";
    Some(Finding::error("", text).rule("gemm-deny").hint(hint))
}
