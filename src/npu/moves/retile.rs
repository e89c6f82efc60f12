//! `retile`: launches get the tiles that are predicted to be fastest for their shape.

use super::edit::{self, dispatch_at, launches, makes, parse_tiling, refuse, wrong_site};
use super::moves::Move;
use super::site::{Retile, Retiling, Site};
use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::cost::launch_us;
use crate::npu::lower::{Tiling, gemm_tilings, gemv_tilings, vector_tilings};
use crate::npu::program::{Kernel, Launch, Program};

pub(super) const NAME: &str = "retile";

/// A tiling that is predicted to be faster by less than this is not worth another proof.
const LEAST: f64 = 0.005;

pub(super) struct Retiler;

impl Move for Retiler {
    fn name(&self) -> &'static str {
        NAME
    }

    fn doc(&self) -> &'static str {
        "Gives launches the tile and herd that are fastest for their shape; numbers stay in their tier."
    }

    /// For each dispatch, all launches that a legal tiling makes faster.
    fn sites(&self, program: &Program, array: &Array) -> Vec<Site> {
        let mut sites = Vec::new();
        for dispatch in &program.dispatches {
            let faster = launches(dispatch).iter().filter_map(|launch| {
                let tiling = best(launch, array)?.to_string();
                Some(Retiling { makes: makes(launch).to_owned(), tiling })
            });
            let tilings: Vec<Retiling> = faster.collect();
            if !tilings.is_empty() {
                sites.push(Site::Retile(Retile { dispatch: dispatch.name.clone(), tilings }));
            }
        }
        sites
    }

    fn apply(&self, program: &Program, site: &Site, _: &Array) -> Result<Program, Finding> {
        let Site::Retile(retile) = site else { return Err(wrong_site(NAME)) };
        let at = dispatch_at(program, &retile.dispatch)?;
        let mut program = program.clone();
        for Retiling { makes, tiling } in &retile.tilings {
            let launch = launch_at(&program, at, makes)?;
            edit::retile(&mut program, at, launch, parse_tiling(tiling)?)?;
        }
        Ok(program)
    }

    fn inverse(&self, before: &Program, site: &Site) -> Result<(&'static str, Site), Finding> {
        let Site::Retile(retile) = site else { return Err(wrong_site(NAME)) };
        let at = dispatch_at(before, &retile.dispatch)?;
        let mut tilings = Vec::new();
        for Retiling { makes, .. } in &retile.tilings {
            let launch = &launches(&before.dispatches[at])[launch_at(before, at, makes)?];
            let tiling = Tiling::of_launch(launch).to_string();
            tilings.push(Retiling { makes: makes.clone(), tiling });
        }
        Ok((NAME, Site::Retile(Retile { dispatch: retile.dispatch.clone(), tilings })))
    }

    fn words(&self, program: &Program, site: &Site) -> String {
        let Site::Retile(retile) = site else { return NAME.to_owned() };
        let now = |made: &str| {
            let at = dispatch_at(program, &retile.dispatch).ok()?;
            let launch = launches(&program.dispatches[at]).iter().find(|l| makes(l) == made)?;
            Some(Tiling::of_launch(launch).to_string())
        };
        let told: Vec<String> = retile
            .tilings
            .iter()
            .map(|Retiling { makes, tiling }| match now(makes) {
                Some(now) => format!("{makes} {now} → {tiling}"),
                None => format!("{makes} → {tiling}"),
            })
            .collect();
        format!("retile `{}`: {}", retile.dispatch, told.join(", "))
    }
}

fn launch_at(program: &Program, dispatch: usize, made: &str) -> Result<usize, Finding> {
    let dispatch = &program.dispatches[dispatch];
    launches(dispatch).iter().position(|launch| makes(launch) == made).ok_or_else(|| {
        let text = format!("no launch of `{}` makes `{made}`", dispatch.name);
        refuse(&dispatch.name, text, "name the first output of a launch")
    })
}

/// The fastest legal tiling, if it is faster than the present one.
fn best(launch: &Launch, array: &Array) -> Option<Tiling> {
    let best = match launch.kernel {
        Kernel::Gemm { m, k, n, .. } => gemm_tilings(m, k, n, array).first().copied(),
        Kernel::Gemv { k, n } => gemv_tilings(k, n, array).first().copied(),
        Kernel::SiluMul { .. } | Kernel::Gelu { .. } | Kernel::Add { .. } | Kernel::Cast { .. } => {
            let us = |tiling: &Tiling| launch_us(&tiling.launch(launch.kernel), array);
            let all = vector_tilings(&launch.kernel, array).into_iter();
            all.min_by(|a, b| us(a).total_cmp(&us(b)))
        }
        _ => None,
    }?;
    let (now, then) = (launch_us(launch, array), launch_us(&best.launch(launch.kernel), array));
    (then < now * (1.0 - LEAST)).then_some(best)
}
