//! Streams to and from a core use up the shim's channels: three allow 8 tiles, two allow 16.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    if matches!(
        launch.kernel,
        Kernel::Gemm { .. } | Kernel::Gemv { .. } | Kernel::FlashAttention { .. }
    ) {
        return None;
    }
    let streams = launch.kernel.form().streams;
    let most = if streams <= 2 { array.dma.two_stream_tiles } else { array.dma.three_stream_tiles };
    let tiles = launch.herd[0].saturating_mul(launch.herd[1]);
    if tiles <= most {
        return None;
    }
    let text = format!(
        "failed to map to shim dma channels: out of channels ({streams} streams on {tiles} tiles)"
    );
    Some(Finding::error("", text).rule("shim-channels").hint(format!("use at most {most} tiles")))
}
