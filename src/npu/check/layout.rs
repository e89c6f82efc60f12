//! Whoever reads a value finds it in the layout that it works in.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Kernel, Launch, Layout, Program};

/// Attention has a rule of its own. A product along the width of a row wants whole rows; what works
/// on heads or elements leaves the layout as it finds it.
pub(super) fn find(
    _: &Dispatch,
    launches: &[Launch],
    program: &Program,
    _: &Array,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for launch in launches {
        let of = |name: &String| program.buffer(name).map(|buffer| buffer.layout);
        let first = launch.inputs.first().and_then(of);
        let made = launch.outputs.first().and_then(of);
        let name = launch.inputs.first().map_or("", String::as_str);
        let text = match launch.kernel {
            Kernel::Gemm { .. } | Kernel::Gemv { .. }
                if [first, made].contains(&Some(Layout::HeadsFirst)) =>
            {
                format!("silent wrong data: `{name}` or what is made of it lies heads-first")
            }
            Kernel::Gemm { .. } | Kernel::Gemv { .. } | Kernel::FlashAttention { .. } => continue,
            _ if first != made && first.is_some() && made.is_some() => {
                format!(
                    "silent wrong data: `{name}` and what is made of it differ in layout, and a \
                     bf16 DMA transposes nothing: its inner stride must be 1"
                )
            }
            _ => continue,
        };
        let hint = "give both the same layout, or transpose on the host";
        findings.push(Finding::error("", text).rule("layout").hint(hint));
    }
    findings
}
