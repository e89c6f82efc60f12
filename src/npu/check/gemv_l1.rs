//! A GEMV's rows and its vector fit L1.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// `2·k·(m_input + 1) ≤ L1 − stack`, without an exception in 39 rows of `shared/npu/legality.md`.
pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let Kernel::Gemv { k, .. } = launch.kernel else { return None };
    let need = k.saturating_mul(launch.tile.k_l1.saturating_add(1)).saturating_mul(2);
    if need <= array.l1_free() {
        return None;
    }
    let text = format!(
        "L1 over-allocation: {need} bytes for {} rows of {k}, {} free",
        launch.tile.k_l1,
        array.l1_free()
    );
    Some(Finding::error("", text).rule("gemv-l1").hint("lower k_l1 (m_input): 1 or 2 for large k"))
}
