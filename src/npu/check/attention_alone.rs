//! FlashAttention shares its dispatch with nothing.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Kernel, Launch, Program};

pub(super) fn find(_: &Dispatch, launches: &[Launch], _: &Program, _: &Array) -> Vec<Finding> {
    let attends = |launch: &Launch| matches!(launch.kernel, Kernel::FlashAttention { .. });
    if launches.len() < 2 || !launches.iter().any(attends) {
        return Vec::new();
    }
    let text = format!("compile > 10 min: attention among {} launches", launches.len());
    vec![Finding::error("", text).rule("fa-alone").hint("split the dispatch at attention")]
}
