//! Names are unique and known: buffers, dispatches, and what launches and operators refer to.

use crate::base::{Finding, nearest};
use crate::npu::array::Array;
use crate::npu::program::{Program, Work};

use super::place::place;

pub(super) fn find(program: &Program, _: &Array) -> Vec<Finding> {
    let mut findings = Vec::new();
    let buffers: Vec<&str> = program.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    let dispatches: Vec<&str> =
        program.dispatches.iter().map(|dispatch| dispatch.name.as_str()).collect();
    twice("buffer", &buffers, program, &mut findings);
    twice("dispatch", &dispatches, program, &mut findings);
    for dispatch in &program.dispatches {
        let at = place(program, dispatch, None);
        let mut known = |name: &String| {
            if buffers.contains(&name.as_str()) {
                return;
            }
            let text = format!("unknown buffer `{name}`");
            let finding = Finding::error(&at, text).rule("unknown-buffer");
            findings.push(match nearest(name, buffers.iter().copied()) {
                Some(near) => finding.hint(format!("did you mean `{near}`?")),
                None => finding.hint("declare it as a [[buffer]]"),
            });
        };
        match &dispatch.work {
            Work::Host(op) => op.inputs.iter().chain(&op.outputs).for_each(&mut known),
            Work::Launches(launches) => {
                for launch in launches {
                    launch.inputs.iter().chain(&launch.outputs).for_each(&mut known);
                }
                if launches.is_empty() {
                    let finding = Finding::error(&at, "a dispatch without launches");
                    findings.push(finding.rule("empty-dispatch").hint("remove it"));
                }
            }
        }
    }
    findings
}

fn twice(kind: &str, names: &[&str], program: &Program, findings: &mut Vec<Finding>) {
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            let text = format!("two {kind} entries are named `{name}`");
            let finding = Finding::error(program.stage.name(), text).rule("name-twice");
            findings.push(finding.hint("names tell them apart: rename one"));
        }
    }
}
