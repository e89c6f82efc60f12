//! `split-dispatch`: one call of the array becomes several, as when a merge does not compile.

use super::edit::{dispatch_at, free_name, launches, refuse, wrong_site};
use super::moves::Move;
use super::name::name_of;
use super::pairs::{MERGE_DISPATCHES, SPLIT_DISPATCH as NAME};
use super::site::{Merge, Part, Site, Split};
use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Program, Work};

pub(super) struct SplitDispatch;

impl Move for SplitDispatch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn doc(&self) -> &'static str {
        "Cuts a dispatch in parts: one that is too long to compile, or that must begin elsewhere."
    }

    /// Every cut in two.
    fn sites(&self, program: &Program, _: &Array) -> Vec<Site> {
        let mut sites = Vec::new();
        for dispatch in &program.dispatches {
            let all = launches(dispatch);
            for cut in 1..all.len() {
                let (head, tail) = all.split_at(cut);
                let first = free_name(&name_of(head), program, &[&dispatch.name]);
                let mut second = free_name(&name_of(tail), program, &[&dispatch.name]);
                if second == first {
                    second.push_str("_b");
                }
                let parts = vec![
                    Part { name: first, launches: cut },
                    Part { name: second, launches: all.len() - cut },
                ];
                sites.push(Site::Split(Split { dispatch: dispatch.name.clone(), parts }));
            }
        }
        sites
    }

    fn apply(&self, program: &Program, site: &Site, _: &Array) -> Result<Program, Finding> {
        let (at, split) = located(program, site)?;
        let mut program = program.clone();
        let Dispatch { scope, work, .. } = program.dispatches.remove(at);
        let Work::Launches(all) = work else { return Err(wrong_site(NAME)) };
        let mut all = all.into_iter();
        for (index, part) in split.parts.iter().enumerate() {
            let work = Work::Launches(all.by_ref().take(part.launches).collect());
            let dispatch = Dispatch { name: part.name.clone(), scope, work };
            program.dispatches.insert(at + index, dispatch);
        }
        Ok(program)
    }

    fn inverse(&self, before: &Program, site: &Site) -> Result<(&'static str, Site), Finding> {
        let (_, split) = located(before, site)?;
        let dispatches = split.parts.iter().map(|part| part.name.clone()).collect();
        let merge = Merge { dispatches, name: split.dispatch.clone() };
        Ok((MERGE_DISPATCHES, Site::Merge(merge)))
    }

    fn opens(&self) -> &'static [&'static str] {
        &[MERGE_DISPATCHES]
    }

    fn words(&self, _: &Program, site: &Site) -> String {
        let Site::Split(split) = site else { return NAME.to_owned() };
        let parts: Vec<String> =
            split.parts.iter().map(|part| format!("`{}`", part.name)).collect();
        format!("split `{}` into {}", split.dispatch, super::edit::listed(&parts))
    }
}

fn located<'s>(program: &Program, site: &'s Site) -> Result<(usize, &'s Split), Finding> {
    let Site::Split(split) = site else { return Err(wrong_site(NAME)) };
    let at = dispatch_at(program, &split.dispatch)?;
    let all = launches(&program.dispatches[at]).len();
    let parts: usize = split.parts.iter().map(|part| part.launches).sum();
    if split.parts.len() < 2 || parts != all || split.parts.iter().any(|part| part.launches == 0) {
        let text = format!("{parts} launches in {} parts for {all}", split.parts.len());
        return Err(refuse(&split.dispatch, text, "each launch goes to one of two or more parts"));
    }
    for (index, part) in split.parts.iter().enumerate() {
        let others = program.dispatches.iter().filter(|dispatch| dispatch.name != split.dispatch);
        let mut names = others
            .map(|dispatch| &dispatch.name)
            .chain(split.parts[..index].iter().map(|part| &part.name));
        if names.any(|name| *name == part.name) {
            let text = format!("there is another dispatch `{}`", part.name);
            return Err(refuse("site", text, "give each part a name of its own"));
        }
    }
    Ok((at, split))
}
