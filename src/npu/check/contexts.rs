//! A process keeps about ten contexts open; more different dispatches than that swap them.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Program, Work};

pub(super) fn find(program: &Program, array: &Array) -> Vec<Finding> {
    let count = program
        .dispatches
        .iter()
        .filter(|dispatch| matches!(dispatch.work, Work::Launches(_)))
        .count();
    if count <= array.contexts_max {
        return Vec::new();
    }
    let text = format!(
        "{count} different dispatches: DRM_IOCTL_AMDXDNA_CREATE_HWCTX fails (err=-22) after about {}",
        array.contexts_max
    );
    let finding = Finding::warning(program.stage.name(), text).rule("contexts");
    vec![finding.hint("merge dispatches with `merge-dispatches`")]
}
