//! Very wide GEMMs that are not multiples of 1024 exhaust the descriptors of a merged dispatch.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Kernel, Launch, Program};

/// Inferred from what the nine published deployments merge and keep apart: two of 8960 columns go
/// together and with nothing else, 9728 and 11008 are alone, 8192 merges with seven others.
pub(super) fn find(_: &Dispatch, launches: &[Launch], _: &Program, _: &Array) -> Vec<Finding> {
    let width = |launch: &Launch| match launch.kernel {
        Kernel::Gemm { n, .. } => n,
        _ => 0,
    };
    let wide = |n: usize| n > 8192 && !n.is_multiple_of(1024);
    let Some(n) = launches.iter().map(width).find(|n| wide(*n)) else { return Vec::new() };
    let all = launches.iter().map(width).fold(0, usize::saturating_add);
    let alike = launches.iter().all(|launch| width(launch) == n) && all <= 18_432;
    if launches.len() == 1 || alike {
        return Vec::new();
    }
    let text = format!(
        "buffer descriptor pool exhausted: a GEMM {n} wide among {} launches",
        launches.len()
    );
    let hint = "keep it apart, or pad its width to a multiple of 1024 with `pad-dims`";
    vec![Finding::error("", text).rule("merge-wide").hint(hint)]
}
