//! RoPE rotates halves of a head, each in whole vectors.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::Rope { width, .. } = launch.kernel else { return None };
    if width > 0 && width % 32 == 0 {
        return None;
    }
    let text = format!("head width {width} does not halve into vectors of 16");
    Some(
        Finding::error("", text).rule("rope-width").hint("head widths of 64 and 128 were measured"),
    )
}
