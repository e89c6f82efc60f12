//! `align-layout`: attention takes its operands as they lie, and no host transposes them.

use super::attention::{self, OnArray};
use super::edit::{refuse, wrong_site};
use super::moves::Move;
use super::site::{Align, Site};
use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Layout, Program};

pub(super) const NAME: &str = "align-layout";

pub(super) struct AlignLayout;

impl Move for AlignLayout {
    fn name(&self) -> &'static str {
        NAME
    }

    fn doc(&self) -> &'static str {
        "Lets attention read and write sequence-first, so that the host transposes nothing."
    }

    fn sites(&self, program: &Program, _: &Array) -> Vec<Site> {
        let all = OnArray::all(program).into_iter();
        all.filter(|found| found.layout == Layout::HeadsFirst && found.head_dim <= MOST_SEQ_FIRST)
            .map(|found| {
                let attention = found.name(program);
                Site::Align(Align { attention, layout: Layout::SeqFirst })
            })
            .collect()
    }

    fn apply(&self, program: &Program, site: &Site, _: &Array) -> Result<Program, Finding> {
        let (align, found) = located(program, site)?;
        if align.layout == Layout::SeqFirst && found.head_dim > MOST_SEQ_FIRST {
            let text = format!("the seq-first kernel hangs at head_dim {}", found.head_dim);
            return Err(refuse(&align.attention, text, "keep heads-first and its transposes"));
        }
        let mut program = program.clone();
        match align.layout {
            Layout::SeqFirst => attention::align(&mut program, &found),
            Layout::HeadsFirst => attention::transpose(&mut program, &found)?,
        }
        Ok(program)
    }

    fn inverse(&self, before: &Program, site: &Site) -> Result<(&'static str, Site), Finding> {
        let (align, found) = located(before, site)?;
        let back = Align { attention: align.attention.clone(), layout: found.layout };
        Ok((NAME, Site::Align(back)))
    }

    fn words(&self, _: &Program, site: &Site) -> String {
        let Site::Align(align) = site else { return NAME.to_owned() };
        match align.layout {
            Layout::SeqFirst => {
                format!("`{}` works sequence-first: no transposes on the host", align.attention)
            }
            Layout::HeadsFirst => {
                format!("`{}` works heads-first, with transposes on the host", align.attention)
            }
        }
    }
}

/// The widest head that the seq-first kernel was seen to run.
const MOST_SEQ_FIRST: usize = 64;

fn located<'s>(program: &Program, site: &'s Site) -> Result<(&'s Align, OnArray), Finding> {
    let Site::Align(align) = site else { return Err(wrong_site(NAME)) };
    let found = OnArray::find(program, &align.attention)?;
    if found.layout == align.layout {
        let text = "attention has this layout already";
        return Err(refuse(&align.attention, text, "leave it"));
    }
    Ok((align, found))
}
