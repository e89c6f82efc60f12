//! A fused cast has an f32 scratch buffer: without it the result is zeros.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Kernel, Launch, Method, Program};

pub(super) fn find(_: &Dispatch, launches: &[Launch], _: &Program, _: &Array) -> Vec<Finding> {
    let missing = |launch: &&Launch| {
        let fused = matches!(launch.kernel, Kernel::Gemm { method: Method::FusedCast, .. });
        fused && launch.outputs.len() < 2
    };
    let finding = |launch: &Launch| {
        let makes = launch.outputs.first().map_or("its result", String::as_str);
        let text = format!("all zeros: the fused cast of `{makes}` has no f32 scratch argument");
        let hint = format!("add an f32 buffer `{makes}_f32` as second output");
        Finding::error("", text).rule("gemm-scratch").hint(hint)
    };
    launches.iter().filter(missing).map(finding).collect()
}
