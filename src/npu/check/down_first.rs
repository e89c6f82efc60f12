//! A deep GEMM of unaligned depth is the first launch of its dispatch, or it gives NaN.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Kernel, Launch, Program};

/// Rule Q, narrowed to what was published: 4864, 8960, 9728 and 11008 deep go first, 6144 and 8192
/// run as seventh of eight.
pub(super) fn find(_: &Dispatch, launches: &[Launch], _: &Program, _: &Array) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, launch) in launches.iter().enumerate().skip(1) {
        let Kernel::Gemm { k, .. } = launch.kernel else { continue };
        if k > 4096 && k % 1024 != 0 {
            let text = format!("NaN: a GEMM {k} deep is launch {} of its dispatch", index + 1);
            let hint = "split before it, so that it is the first launch";
            findings.push(Finding::error("", text).rule("down-first").hint(hint));
        }
    }
    findings
}
