//! A launch names as many buffers as its kernel has operands, each of the right size and type.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::kernel::{Fit, Operand};
use crate::npu::program::{Buffer, Launch, Program, Work};

use super::place::place;

pub(super) fn find(program: &Program, _: &Array) -> Vec<Finding> {
    let mut findings = Vec::new();
    for dispatch in &program.dispatches {
        let Work::Launches(launches) = &dispatch.work else { continue };
        for (index, launch) in launches.iter().enumerate() {
            let mut found = launch_findings(launch, program);
            if !found.is_empty() {
                let at = place(program, dispatch, Some((index, launch)));
                for finding in &mut found {
                    finding.place.clone_from(&at);
                }
                findings.append(&mut found);
            }
        }
    }
    findings
}

fn launch_findings(launch: &Launch, program: &Program) -> Vec<Finding> {
    let mut findings = Vec::new();
    let operands = launch.kernel.operands();
    let form = launch.kernel.form();
    let mut side = |what: &str, names: &[String], wanted: &[Operand], listed: &[&str]| {
        // A missing scratch has a rule of its own.
        let scratch = what == "outputs" && names.len() == 1 && wanted.len() == 2;
        if names.len() != wanted.len() && !scratch {
            let text = format!("{} {what} for {} of `{}`", names.len(), wanted.len(), form.name);
            let finding = Finding::error("", text).rule("operands");
            findings.push(finding.hint(format!("in order: {}", listed.join(", "))));
        }
        for (name, operand) in names.iter().zip(wanted) {
            let Some(buffer) = program.buffer(name) else { continue };
            findings.extend(mismatch(buffer, operand));
        }
    };
    side("inputs", &launch.inputs, &operands.inputs, form.inputs);
    side("outputs", &launch.outputs, &operands.outputs, form.outputs);
    findings
}

fn mismatch(buffer: &Buffer, operand: &Operand) -> Option<Finding> {
    let has = buffer.elements();
    let fits = match operand.fit {
        Fit::Exact => has == operand.elements,
        Fit::Divides => has > 0 && operand.elements.is_multiple_of(has),
    };
    if fits && buffer.dtype == operand.dtype {
        return None;
    }
    let text = format!(
        "`{}` holds {:?} {:?}, the kernel's `{}` is {} {:?} elements",
        buffer.name, buffer.shape, buffer.dtype, operand.name, operand.elements, operand.dtype
    );
    let hint = "make the buffer's shape and the launch's shape agree";
    Some(Finding::error("", text).rule("shape-mismatch").hint(hint))
}
