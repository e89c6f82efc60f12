//! Widths of 1024 were once thought needed; measurements show that 512 and less work.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

/// Rule A, kept as a warning for wide outputs alone, where merged dispatches did run out.
pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let Kernel::Gemm { m, n, .. } = launch.kernel else { return None };
    if m < 2048 || n < 4096 || n % 512 == 0 {
        return None;
    }
    let text = format!("n {n} is not a multiple of 512 at {m} rows: descriptors may run out");
    Some(
        Finding::warning("", text).rule("alignment").hint("watch merged dispatches, or `pad-dims`"),
    )
}
