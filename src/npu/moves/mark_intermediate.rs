//! `mark-intermediate`: what only the array makes and reads is neither written nor read back.

use super::edit::{buffer_mut, launches, listed, refuse, wrong_site};
use super::moves::Move;
use super::reside;
use super::site::{Reside, Site};
use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Program, Residency};

pub(super) const NAME: &str = "mark-intermediate";

pub(super) struct MarkIntermediate;

impl Move for MarkIntermediate {
    fn name(&self) -> &'static str {
        NAME
    }

    fn doc(&self) -> &'static str {
        "Leaves values that only the array makes and reads where they are: no copy in, none out."
    }

    /// For each dispatch, what it makes that the host never sees.
    fn sites(&self, program: &Program, _: &Array) -> Vec<Site> {
        let mut sites = Vec::new();
        for dispatch in &program.dispatches {
            let made = launches(dispatch).iter().flat_map(|launch| &launch.outputs);
            let stays = |name: &&String| {
                let activation = program
                    .buffer(name)
                    .is_some_and(|buffer| buffer.residency == Residency::Activation);
                activation && hindrance(program, name).is_none()
            };
            let buffers: Vec<String> = made.filter(stays).cloned().collect();
            if !buffers.is_empty() {
                sites.push(Site::Reside(Reside { buffers, residency: Residency::Intermediate }));
            }
        }
        sites
    }

    fn apply(&self, program: &Program, site: &Site, _: &Array) -> Result<Program, Finding> {
        let Site::Reside(reside) = site else { return Err(wrong_site(NAME)) };
        let mut program = program.clone();
        for name in &reside.buffers {
            match reside.residency {
                Residency::Static => return Err(wrong_site(NAME)),
                Residency::Intermediate => {
                    if let Some(text) = hindrance(&program, name) {
                        let hint =
                            "leave it an activation, or move what the host does to the array";
                        return Err(refuse(name, text, hint));
                    }
                }
                Residency::Activation => (),
            }
            buffer_mut(&mut program, name)?.residency = reside.residency;
        }
        Ok(program)
    }

    fn inverse(&self, before: &Program, site: &Site) -> Result<(&'static str, Site), Finding> {
        Ok((NAME, reside::back(before, site, NAME)?))
    }

    fn words(&self, _: &Program, site: &Site) -> String {
        let Site::Reside(reside) = site else { return NAME.to_owned() };
        let what = listed(&reside.buffers);
        match reside.residency {
            Residency::Intermediate => format!("keep {what} on the array: never copied"),
            _ => format!("copy {what} between host and array again"),
        }
    }
}

/// Why a buffer cannot be an intermediate. What nobody on the array reads is a result.
fn hindrance(program: &Program, name: &str) -> Option<String> {
    let read = program
        .dispatches
        .iter()
        .flat_map(launches)
        .any(|launch| launch.inputs.iter().any(|input| input == name));
    if program.buffer(name).is_some_and(|buffer| buffer.fill.is_some()) {
        Some(format!("`{name}` is filled by the host"))
    } else if reside::is_of_host(program, name) {
        Some(format!("the host reads or makes `{name}`"))
    } else if !reside::is_made(program, name) {
        Some(format!("nothing on the array makes `{name}`"))
    } else if !read {
        Some(format!("nothing on the array reads `{name}`: it is a result"))
    } else {
        None
    }
}
