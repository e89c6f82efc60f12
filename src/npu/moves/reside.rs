//! What the two moves of residency have in common.

use super::edit::{buffer_mut, host, launches, refuse, wrong_site};
use super::site::{Reside, Site};
use crate::base::Finding;
use crate::npu::program::Program;

/// Whether any dispatch makes it.
pub(super) fn is_made(program: &Program, name: &str) -> bool {
    let makes = |outputs: &[String]| outputs.iter().any(|output| output == name);
    program.dispatches.iter().any(|dispatch| {
        launches(dispatch).iter().any(|launch| makes(&launch.outputs))
            || host(dispatch).is_some_and(|op| makes(&op.outputs))
    })
}

/// Whether a host operator reads or makes it.
pub(super) fn is_of_host(program: &Program, name: &str) -> bool {
    let ops = program.dispatches.iter().filter_map(host);
    ops.into_iter().any(|op| op.inputs.iter().chain(&op.outputs).any(|other| other == name))
}

/// The site that gives the buffers back the residency that they all had.
pub(super) fn back(before: &Program, site: &Site, name: &str) -> Result<Site, Finding> {
    let Site::Reside(Reside { buffers, .. }) = site else { return Err(wrong_site(name)) };
    let mut before = before.clone();
    let mut residencies = Vec::new();
    for name in buffers {
        residencies.push(buffer_mut(&mut before, name)?.residency);
    }
    let Some(first) = residencies.first().copied() else {
        return Err(refuse("site", "no buffers", "name at least one"));
    };
    if residencies.iter().any(|other| *other != first) {
        let text = "the buffers have different residencies now";
        return Err(refuse("site", text, "take those of one residency"));
    }
    Ok(Site::Reside(Reside { buffers: buffers.clone(), residency: first }))
}
