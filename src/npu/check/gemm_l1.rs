//! A GEMM's tile fits L1: accumulator, two of each operand, and what a drain needs beside.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch, Method};

/// `acc·tm·tn + 4·k1·(tm+tn) [+ 2·tm·tn for a drain] ≤ L1 − stack`; `shared/npu/legality.md` found
/// three exceptions in 151 rows, all with an assumed k1.
pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let Kernel::Gemm { method, .. } = launch.kernel else { return None };
    let tile = launch.tile;
    let result = tile.m.saturating_mul(tile.n);
    let acc = if method == Method::Direct { 2 } else { 4 };
    let operands = tile.k_l1.saturating_mul(tile.m.saturating_add(tile.n)).saturating_mul(4);
    let drain = if method == Method::Drain { result.saturating_mul(2) } else { 0 };
    let need = result.saturating_mul(acc).saturating_add(operands).saturating_add(drain);
    if need <= array.l1_free() {
        return None;
    }
    let text = format!(
        "L1 over-allocation: {need} bytes for tile {} × {} with k_l1 {}, {} free of {}",
        tile.m,
        tile.n,
        tile.k_l1,
        array.l1_free(),
        array.l1_bytes
    );
    let hint = if method == Method::Drain { "a drain wants tile_m 32" } else { "shrink tile_n" };
    Some(Finding::error("", text).rule("gemm-l1").hint(hint))
}
