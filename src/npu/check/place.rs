//! Where in a program a finding is, as a person reads it.

use crate::npu::program::{Dispatch, Launch, Program};

/// `prefill · attn_norm · launch 1 (rms-norm → attn_norm)`.
pub(in crate::npu) fn place(
    program: &Program,
    dispatch: &Dispatch,
    launch: Option<(usize, &Launch)>,
) -> String {
    let head = format!("{} · {}", program.stage, dispatch.name);
    let Some((index, launch)) = launch else { return head };
    let makes = launch.outputs.first().map_or("nothing", String::as_str);
    format!("{head} · launch {} ({} → {makes})", index + 1, launch.kernel.name())
}
