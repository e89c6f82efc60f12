//! `make-static`: weights are written once, before the first call.

use super::edit::{buffer_mut, launches, listed, refuse, wrong_site};
use super::moves::Move;
use super::reside;
use super::site::{Reside, Site};
use crate::base::Finding;
use crate::model::Stage;
use crate::npu::array::Array;
use crate::npu::program::{Buffer, Fill, Program, Residency};

pub(super) const NAME: &str = "make-static";

pub(super) struct MakeStatic;

impl Move for MakeStatic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn doc(&self) -> &'static str {
        "Writes what never changes, such as weights, once instead of before each call."
    }

    /// For each dispatch, what it is the first to read.
    fn sites(&self, program: &Program, _: &Array) -> Vec<Site> {
        let mut seen: Vec<&str> = Vec::new();
        let mut sites = Vec::new();
        for dispatch in &program.dispatches {
            let mut buffers = Vec::new();
            for name in launches(dispatch).iter().flat_map(|launch| &launch.inputs) {
                if seen.contains(&name.as_str()) {
                    continue;
                }
                seen.push(name);
                let buffer = program.buffer(name);
                if buffer.is_some_and(|buffer| {
                    buffer.residency == Residency::Activation
                        && stays(buffer, program.stage)
                        && !reside::is_made(program, name)
                }) {
                    buffers.push(name.clone());
                }
            }
            if !buffers.is_empty() {
                sites.push(Site::Reside(Reside { buffers, residency: Residency::Static }));
            }
        }
        sites
    }

    fn apply(&self, program: &Program, site: &Site, _: &Array) -> Result<Program, Finding> {
        let Site::Reside(reside) = site else { return Err(wrong_site(NAME)) };
        let mut program = program.clone();
        let stage = program.stage;
        for name in &reside.buffers {
            let is_made = reside::is_made(&program, name);
            let buffer = buffer_mut(&mut program, name)?;
            match reside.residency {
                Residency::Static if is_made || !stays(buffer, stage) => {
                    let text = format!("`{name}` changes with every call");
                    return Err(refuse(
                        name,
                        text,
                        "only weights and tables of fixed positions stay",
                    ));
                }
                Residency::Intermediate => return Err(wrong_site(NAME)),
                residency => buffer.residency = residency,
            }
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
            Residency::Static => format!("write {what} once instead of on each call"),
            _ => format!("write {what} again on each call"),
        }
    }
}

/// Whether its content is the same in every call.
fn stays(buffer: &Buffer, stage: Stage) -> bool {
    match buffer.fill {
        Some(Fill::Weight(_) | Fill::WeightRows { .. } | Fill::Zeros) => true,
        Some(Fill::RopeTable) => stage == Stage::Prefill,
        Some(Fill::Embedding | Fill::KeyCache | Fill::ValueCache) | None => false,
    }
}
