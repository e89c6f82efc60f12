//! Element-wise steps fit L1, twice for each stream.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let step = match launch.kernel {
        Kernel::SiluMul { .. } | Kernel::Gelu { .. } | Kernel::Add { .. } | Kernel::Cast { .. } => {
            launch.tile.n
        }
        Kernel::RmsNorm { width, .. }
        | Kernel::LayerNorm { width, .. }
        | Kernel::Rope { width, .. }
        | Kernel::BiasAdd { width, .. } => width,
        _ => return None,
    };
    let streams = launch.kernel.form().streams;
    let need = step.saturating_mul(4).saturating_mul(streams);
    if need <= array.l1_free() {
        return None;
    }
    let text = format!(
        "L1 over-allocation: {streams} streams of two steps of {step} take {need} bytes, {} free",
        array.l1_free()
    );
    Some(Finding::error("", text).rule("vector-l1").hint("tile_n 4096 is the largest that was run"))
}
