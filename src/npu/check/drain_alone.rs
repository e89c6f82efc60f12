//! A draining GEMM alone in its dispatch with four rounds of rows is wrong from the second call.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Kernel, Launch, Method, Program};

/// Source: `shared/npu/kernels.md` §3. Together with another launch it is right.
pub(super) fn find(_: &Dispatch, launches: &[Launch], _: &Program, _: &Array) -> Vec<Finding> {
    let [launch] = launches else { return Vec::new() };
    if !corrupts_alone(launch) {
        return Vec::new();
    }
    let text = "silent wrong data from the second call: a lone drain with four rounds of rows";
    let hint = "use fused-cast, another tile_m, or merge it with a neighbour";
    vec![Finding::error("", text).rule("drain-alone").hint(hint)]
}

/// Whether a launch must not be the only one of its dispatch.
pub(in crate::npu) fn corrupts_alone(launch: &Launch) -> bool {
    let Kernel::Gemm { m, method: Method::Drain, .. } = launch.kernel else { return false };
    let round = launch.tile.m.saturating_mul(launch.herd[0]);
    round > 0 && m % round == 0 && m / round == 4
}
