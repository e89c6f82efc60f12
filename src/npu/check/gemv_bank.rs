//! A step of a GEMV should stay in a bank of L1; up to three banks were seen to work.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// Rule E recommends one bank of 16 KiB and measured rows use 49152 bytes, so only what nobody has
/// seen warns; what does not fit at all has a rule of its own.
const SEEN: usize = 49_152;

pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::Gemv { k, .. } = launch.kernel else { return None };
    let bytes = launch.tile.k_l1.saturating_mul(k).saturating_mul(2);
    if bytes <= SEEN {
        return None;
    }
    let text = format!(
        "L1 overflow is near: {bytes} bytes a step of {} rows, {SEEN} were seen to work",
        launch.tile.k_l1
    );
    let hint = "lower k_l1 (m_input): 1 or 2 for large k";
    Some(Finding::warning("", text).rule("gemv-bank").hint(hint))
}
