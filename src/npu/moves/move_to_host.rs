//! `move-to-host`: a dispatch of the array becomes a host operator.

use super::attention::{self, OnArray};
use super::edit::{dispatch_at, host, launches, makes, refuse, tilings_of, wrong_site};
use super::head;
use super::moves::Move;
use super::pairs::{MOVE_TO_HOST as NAME, MOVE_TO_NPU};
use super::site::{Place, Site};
use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{HostKind, HostOp, Kernel, Program, Residency, Work};

pub(super) struct MoveToHost;

impl Move for MoveToHost {
    fn name(&self) -> &'static str {
        NAME
    }

    fn doc(&self) -> &'static str {
        "Computes on the host what a dispatch of one launch computed: small work, or to find a fault."
    }

    fn sites(&self, program: &Program, array: &Array) -> Vec<Site> {
        let all = program.dispatches.iter().filter(|dispatch| host(dispatch).is_none());
        all.map(|dispatch| {
            Site::Place(Place { dispatch: dispatch.name.clone(), ..Place::default() })
        })
        .filter(|site| self.apply(program, site, array).is_ok())
        .collect()
    }

    fn apply(&self, program: &Program, site: &Site, _: &Array) -> Result<Program, Finding> {
        let Site::Place(site) = site else { return Err(wrong_site(NAME)) };
        let at = dispatch_at(program, &site.dispatch)?;
        let mut program = program.clone();
        if head::is_head(&program.dispatches[at], &program) {
            head::to_host(&mut program, at, site.width)?;
            return Ok(program);
        }
        let [launch] = launches(&program.dispatches[at]) else {
            let text = format!("`{}` is no dispatch of one launch", site.dispatch);
            return Err(refuse(&site.dispatch, text, "split it first"));
        };
        if let Kernel::FlashAttention { .. } = launch.kernel {
            let found = OnArray::find(&program, &site.dispatch)?;
            let name = site.name.clone().unwrap_or_else(|| found.values[3].clone());
            attention::to_host(&mut program, found, &name)?;
            return Ok(program);
        }
        let Some(op) = operator(&launch.kernel) else {
            let text = format!("no host operator does what `{}` does", launch.kernel.name());
            return Err(refuse(&site.dispatch, text, "leave it on the array"));
        };
        for name in launch.inputs.iter().chain(&launch.outputs) {
            if program.buffer(name).is_some_and(|b| b.residency == Residency::Intermediate) {
                let text = format!("`{name}` is an intermediate, which the host cannot see");
                return Err(refuse(name, text, "make it an activation first"));
            }
        }
        let (inputs, outputs) = (launch.inputs.clone(), launch.outputs.clone());
        program.dispatches[at].work = Work::Host(HostOp { op, inputs, outputs });
        Ok(program)
    }

    fn inverse(&self, before: &Program, site: &Site) -> Result<(&'static str, Site), Finding> {
        let Site::Place(site) = site else { return Err(wrong_site(NAME)) };
        let at = dispatch_at(before, &site.dispatch)?;
        let mut back = Place { dispatch: site.dispatch.clone(), ..Place::default() };
        let all = launches(&before.dispatches[at]);
        if let Ok(found) = OnArray::find(before, &site.dispatch) {
            back.dispatch = site.name.clone().unwrap_or_else(|| found.values[3].clone());
            back.name = Some(site.dispatch.clone());
            back.layout = Some(found.layout);
        } else {
            let made: Vec<&str> = all.iter().map(makes).collect();
            back.tilings = tilings_of(before, |launch| made.contains(&makes(launch)));
        }
        Ok((MOVE_TO_NPU, Site::Place(back)))
    }

    fn words(&self, _: &Program, site: &Site) -> String {
        let Site::Place(site) = site else { return NAME.to_owned() };
        format!("`{}` runs on the host", site.dispatch)
    }
}

fn operator(kernel: &Kernel) -> Option<HostKind> {
    Some(match kernel {
        Kernel::RmsNorm { .. } => HostKind::RmsNorm,
        Kernel::Rope { .. } => HostKind::Rope,
        Kernel::SiluMul { .. } => HostKind::SiluMul,
        Kernel::Add { .. } => HostKind::Add,
        Kernel::BiasAdd { .. } => HostKind::BiasAdd,
        _ => return None,
    })
}
