//! Who writes a buffer and who reads it agrees with its residency.

use crate::base::Finding;
use crate::model::Stage;
use crate::npu::array::Array;
use crate::npu::program::{Buffer, Dispatch, Fill, Program, Residency, Work};

use super::place::place;

pub(super) fn find(program: &Program, _: &Array) -> Vec<Finding> {
    let mut findings = Vec::new();
    for dispatch in &program.dispatches {
        let at = place(program, dispatch, None);
        let mut push = |finding: Finding| findings.push(Finding { place: at.clone(), ..finding });
        for (buffer, reads) in touched(dispatch, program) {
            let host = matches!(dispatch.work, Work::Host(_));
            let name = &buffer.name;
            match (buffer.residency, reads, host) {
                (Residency::Intermediate, true, true) => {
                    let text =
                        format!("the host reads intermediate `{name}`, which is never read back");
                    push(error(text, "stale-read", "make it an activation"));
                }
                (Residency::Intermediate, false, true) => {
                    let text = format!(
                        "the host makes intermediate `{name}`, which is never written to the array"
                    );
                    push(error(text, "stale-write", "make it an activation"));
                }
                (Residency::Static, false, _) => {
                    let text = format!("`{name}` is static and made on every call");
                    push(error(text, "static-made", "make it an activation or an intermediate"));
                }
                _ => {}
            }
        }
    }
    findings.extend(program.buffers.iter().filter_map(|buffer| filled(buffer, program)));
    findings
}

/// What a residency says of a buffer's own fill.
fn filled(buffer: &Buffer, program: &Program) -> Option<Finding> {
    let name = &buffer.name;
    let stage = program.stage;
    let moves = match &buffer.fill {
        Some(Fill::RopeTable) => stage == Stage::Decode,
        Some(Fill::Embedding | Fill::KeyCache | Fill::ValueCache) => true,
        _ => false,
    };
    let finding = match (buffer.residency, &buffer.fill) {
        (Residency::Static, None) => {
            let text = format!("static `{name}` has no fill: nothing ever writes it");
            error(text, "static-empty", "give it a fill")
        }
        (Residency::Static, Some(_)) if moves => {
            let text = format!("stale content: static `{name}` changes with every call");
            error(text, "static-stale", "make it an activation")
        }
        (Residency::Intermediate, Some(_)) => {
            let text = format!("intermediate `{name}` has a fill that is never written");
            error(text, "intermediate-filled", "make it static, or an activation")
        }
        _ => return None,
    };
    Some(Finding { place: format!("{stage} · buffer {name}"), ..finding })
}

fn error(text: String, rule: &str, hint: &str) -> Finding {
    Finding::error("", text).rule(rule).hint(hint)
}

/// Buffers of a dispatch, with whether they are read; one that is both made and read inside is
/// listed twice.
fn touched<'a>(dispatch: &'a Dispatch, program: &'a Program) -> Vec<(&'a Buffer, bool)> {
    let mut all = Vec::new();
    let mut side = |names: &'a [String], reads: bool| {
        all.extend(names.iter().filter_map(|name| program.buffer(name)).map(|b| (b, reads)));
    };
    match &dispatch.work {
        Work::Host(op) => {
            side(&op.inputs, true);
            side(&op.outputs, false);
        }
        Work::Launches(launches) => {
            for launch in launches {
                side(&launch.inputs, true);
                side(&launch.outputs, false);
            }
        }
    }
    all
}
