//! `pad-dims`: a dimension of the network deployed wider, with zeros.

use super::edit::{makes, refuse, tilings_of, wrong_site};
use super::moves::Move;
use super::resize::{Axis, reshaped, resize, width};
use super::site::{Pad, Site};
use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::check::check;
use crate::npu::program::Program;

pub(super) const NAME: &str = "pad-dims";

pub(super) struct PadDims;

const DIMENSIONS: [(&str, Axis); 2] =
    [("hidden", Axis::Hidden), ("intermediate", Axis::Intermediate)];

/// Multiples that published deployments pad to.
const STEPS: [usize; 3] = [256, 512, 1024];

impl Move for PadDims {
    fn name(&self) -> &'static str {
        NAME
    }

    fn doc(&self) -> &'static str {
        "Deploys a dimension wider, filled with zeros, where that has a legal or a faster tiling."
    }

    /// The intermediate width at the next multiples; the hidden one only where the present width is
    /// illegal, since the whole network is as wide.
    fn sites(&self, program: &Program, array: &Array) -> Vec<Site> {
        let mut sites = Vec::new();
        for (name, axis) in DIMENSIONS {
            let Some(now) = width(program, axis) else { continue };
            if axis == Axis::Hidden && !check(program, array).iter().any(Finding::is_error) {
                continue;
            }
            let mut widths: Vec<usize> =
                STEPS.iter().map(|step| now.next_multiple_of(*step)).collect();
            widths.dedup();
            for width in widths.into_iter().filter(|width| *width > now && *width < 2 * now) {
                let dimension = name.to_owned();
                sites.push(Site::Pad(Pad { dimension, width, tilings: Vec::new() }));
            }
        }
        sites
    }

    fn apply(&self, program: &Program, site: &Site, array: &Array) -> Result<Program, Finding> {
        let Site::Pad(site) = site else { return Err(wrong_site(NAME)) };
        let (axis, now) = dimension(program, site)?;
        if site.width == now || site.width == 0 {
            let text = format!("`{}` is {now} wide, not {}", site.dimension, site.width);
            return Err(refuse("site", text, "take a larger width"));
        }
        let mut program = program.clone();
        resize(&mut program, axis, site.width, &site.tilings, array)?;
        Ok(program)
    }

    /// The array that a program was made for does not matter to what it was.
    fn inverse(&self, before: &Program, site: &Site) -> Result<(&'static str, Site), Finding> {
        let after = self.apply(before, site, &Array::default())?;
        let Site::Pad(site) = site else { return Err(wrong_site(NAME)) };
        let (_, width) = dimension(before, site)?;
        let changed = reshaped(before, &after);
        let tilings = tilings_of(before, |launch| changed.iter().any(|made| made == makes(launch)));
        Ok((NAME, Site::Pad(Pad { dimension: site.dimension.clone(), width, tilings })))
    }

    fn opens(&self) -> &'static [&'static str] {
        &["merge-dispatches", "retile"]
    }

    fn words(&self, program: &Program, site: &Site) -> String {
        let Site::Pad(pad) = site else { return NAME.to_owned() };
        match dimension(program, pad) {
            Ok((_, now)) => format!("deploy `{}` {} wide for {now}", pad.dimension, pad.width),
            Err(_) => format!("deploy `{}` {} wide", pad.dimension, pad.width),
        }
    }
}

fn dimension(program: &Program, site: &Pad) -> Result<(Axis, usize), Finding> {
    let found = DIMENSIONS.iter().find(|(name, _)| *name == site.dimension);
    let axis = found.map(|(_, axis)| *axis);
    axis.and_then(|axis| Some((axis, width(program, axis)?))).ok_or_else(|| {
        let text = format!("there is no dimension `{}`", site.dimension);
        refuse("site", text, "`hidden` and `intermediate` can be padded")
    })
}
