//! Keys and values of a prompt go into the cache: decode would read an empty one.

use crate::base::Finding;
use crate::model::Stage;
use crate::npu::array::Array;
use crate::npu::program::{HostKind, Kernel, Program, Scope, Work};

/// Attention on the host writes the cache itself; on the array a host copy must.
pub(super) fn find(program: &Program, _: &Array) -> Vec<Finding> {
    let attends = |work: &Work| match work {
        Work::Launches(launches) => {
            launches.iter().any(|l| matches!(l.kernel, Kernel::FlashAttention { .. }))
        }
        Work::Host(_) => false,
    };
    let on_array = program.dispatches.iter().any(|dispatch| attends(&dispatch.work));
    let copied = program
        .dispatches
        .iter()
        .any(|dispatch| dispatch.scope == Scope::Layer && dispatch.is_host(HostKind::CacheWrite));
    if program.stage == Stage::Decode || !on_array || copied {
        return Vec::new();
    }
    let text = "attention runs on the array and nothing writes keys and values into the cache";
    let hint = "add a dispatch with `host = \"cache-write\"` that reads them";
    vec![Finding::error(program.stage.name(), text).rule("cache-missing").hint(hint)]
}
