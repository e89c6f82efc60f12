//! Nothing is read before it was made: by the host's fill, or by an earlier dispatch or launch.

use std::collections::BTreeSet;

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Program, Scope, Work};

use super::place::place;

/// The residual stream is carried from layer to layer, so a buffer of the whole model counts as
/// made once any dispatch before has made it; a buffer of a layer must be made within the layer.
pub(super) fn find(program: &Program, _: &Array) -> Vec<Finding> {
    let mut made: BTreeSet<&str> = program
        .buffers
        .iter()
        .filter(|buffer| buffer.fill.is_some())
        .map(|buffer| buffer.name.as_str())
        .collect();
    let mut findings = Vec::new();
    for dispatch in &program.dispatches {
        let at = place(program, dispatch, None);
        let mut missing = Vec::new();
        for (inputs, outputs) in steps(&dispatch.work) {
            let unmade =
                |name: &&String| !made.contains(name.as_str()) && program.buffer(name).is_some();
            missing.extend(inputs.iter().filter(unmade).cloned());
            made.extend(outputs.iter().map(String::as_str));
        }
        for name in missing {
            let text = format!("`{name}` is read before anything makes it");
            let hint = "give it a fill, or move what makes it to before this dispatch";
            findings.push(Finding::error(&at, text).rule("read-before-write").hint(hint));
        }
    }
    findings.extend(crossing(program));
    findings
}

/// What is read and made, in order.
fn steps(work: &Work) -> Vec<(&[String], &[String])> {
    match work {
        Work::Host(op) => vec![(&op.inputs, &op.outputs)],
        Work::Launches(launches) => {
            launches.iter().map(|launch| (&*launch.inputs, &*launch.outputs)).collect()
        }
    }
}

/// A dispatch of the whole model between those of the layer would run in every layer or in none.
fn crossing(program: &Program) -> Option<Finding> {
    let first = program.dispatches.iter().position(|dispatch| dispatch.scope == Scope::Layer)?;
    let last = program.dispatches.iter().rposition(|dispatch| dispatch.scope == Scope::Layer)?;
    let inside = &program.dispatches[first..last];
    let stray = inside.iter().find(|dispatch| dispatch.scope == Scope::Model)?;
    let text = "a dispatch of the whole model stands among those of the layer";
    let finding = Finding::error(place(program, stray, None), text).rule("scope-order");
    Some(finding.hint("move it before the first or after the last dispatch of the layer"))
}
