//! FlashAttention takes heads of 128 heads-first only, and all its operands in one layout.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Kernel, Launch, Layout, Program};

pub(super) fn find(
    _: &Dispatch,
    launches: &[Launch],
    program: &Program,
    _: &Array,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for launch in launches {
        let Kernel::FlashAttention { head_dim, .. } = launch.kernel else { continue };
        let names = launch.inputs.iter().chain(&launch.outputs);
        let layouts: Vec<Layout> =
            names.filter_map(|name| program.buffer(name)).map(|buffer| buffer.layout).collect();
        if layouts.windows(2).any(|pair| pair[0] != pair[1]) {
            let text = "operands of one attention lie in different layouts";
            let hint = "give all four the same layout, or transpose on the host";
            findings.push(Finding::error("", text).rule("fa-layout").hint(hint));
        } else if head_dim > 64 && layouts.contains(&Layout::SeqFirst) {
            let text =
                format!("ERT_CMD_STATE_TIMEOUT: the seq-first kernel hangs at head_dim {head_dim}");
            let hint = "use heads-first buffers with host transposes";
            findings.push(Finding::error("", text).rule("fa-head-dim").hint(hint));
        }
    }
    findings
}
