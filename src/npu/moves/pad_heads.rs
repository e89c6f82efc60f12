//! `pad-heads`: phantom query heads inside each group of key heads, so that heads go in pairs.

use super::edit::{makes, refuse, tilings_of, wrong_site};
use super::moves::Move;
use super::resize::{Axis, reshaped, resize};
use super::site::{Heads, Site};
use crate::base::Finding;
use crate::model::Stage;
use crate::npu::array::Array;
use crate::npu::program::Program;

pub(super) const NAME: &str = "pad-heads";

pub(super) struct PadHeads;

impl Move for PadHeads {
    fn name(&self) -> &'static str {
        NAME
    }

    fn doc(&self) -> &'static str {
        "Adds query heads of zeros at the end of each KV group: attention on the array takes pairs."
    }

    /// In prefill, where the number of heads keeps attention from the array.
    fn sites(&self, program: &Program, _: &Array) -> Vec<Site> {
        let (heads, kv_heads) = (program.heads, program.kv_heads);
        let odd = heads % 2 != 0 && kv_heads > 0 && heads % kv_heads == 0;
        if program.stage == Stage::Decode || !odd {
            return Vec::new();
        }
        let more = (heads / kv_heads + 1..).map(|group| group * kv_heads);
        let heads = more.into_iter().find(|heads| heads % 2 == 0);
        heads.map(|heads| Site::Heads(Heads { heads, tilings: Vec::new() })).into_iter().collect()
    }

    fn apply(&self, program: &Program, site: &Site, array: &Array) -> Result<Program, Finding> {
        let Site::Heads(site) = site else { return Err(wrong_site(NAME)) };
        let (heads, kv_heads) = (site.heads, program.kv_heads);
        if heads == 0 || kv_heads == 0 || heads % kv_heads != 0 {
            let text = format!("{heads} query heads do not divide over {kv_heads} key heads");
            return Err(refuse("site", text, format!("take a multiple of {kv_heads}")));
        }
        if heads == program.heads {
            return Err(refuse("site", format!("there are {heads} heads already"), "leave it"));
        }
        let mut program = program.clone();
        program.heads = heads;
        let to = heads * program.head_dim;
        resize(&mut program, Axis::Queries, to, &site.tilings, array)?;
        Ok(program)
    }

    /// The array that a program was made for does not matter to what it was.
    fn inverse(&self, before: &Program, site: &Site) -> Result<(&'static str, Site), Finding> {
        let after = self.apply(before, site, &Array::default())?;
        let changed = reshaped(before, &after);
        let tilings = tilings_of(before, |launch| changed.iter().any(|made| made == makes(launch)));
        Ok((NAME, Site::Heads(Heads { heads: before.heads, tilings })))
    }

    fn opens(&self) -> &'static [&'static str] {
        &["move-to-npu"]
    }

    fn words(&self, program: &Program, site: &Site) -> String {
        let Site::Heads(site) = site else { return NAME.to_owned() };
        format!("deploy {} query heads for {}", site.heads, program.heads)
    }
}
