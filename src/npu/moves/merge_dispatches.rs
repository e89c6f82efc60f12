//! `merge-dispatches`: neighbouring dispatches become one call of the array.

use super::edit::{dispatch_at, launches, refuse, wrong_site};
use super::moves::Move;
use super::name::name_of;
use super::pairs::{MERGE_DISPATCHES as NAME, SPLIT_DISPATCH};
use super::site::{Merge, Part, Site, Split};
use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Launch, Program, Work};

pub(super) struct MergeDispatches;

impl Move for MergeDispatches {
    fn name(&self) -> &'static str {
        NAME
    }

    fn doc(&self) -> &'static str {
        "Makes neighbouring dispatches one call: each call costs the driver and the host a fixed time."
    }

    /// Every run of neighbours that may compile, longest first.
    fn sites(&self, program: &Program, array: &Array) -> Vec<Site> {
        let all = &program.dispatches;
        let mut found = Vec::new();
        for first in 0..all.len() {
            let mut merged: Vec<Launch> = Vec::new();
            for last in first..all.len() {
                let next = launches(&all[last]);
                if next.is_empty() || all[last].scope != all[first].scope {
                    break;
                }
                merged.extend_from_slice(next);
                if merged.len() > array.launches_max + 1 {
                    break;
                }
                if last > first {
                    let names: Vec<String> =
                        all[first..=last].iter().map(|d| d.name.clone()).collect();
                    let except: Vec<&str> = names.iter().map(String::as_str).collect();
                    let name = super::edit::free_name(&name_of(&merged), program, &except);
                    found.push(Merge { dispatches: names, name });
                }
            }
        }
        found.sort_by_key(|site| std::cmp::Reverse(site.dispatches.len()));
        found.into_iter().map(Site::Merge).collect()
    }

    fn apply(&self, program: &Program, site: &Site, _: &Array) -> Result<Program, Finding> {
        let (at, merge) = located(program, site)?;
        let end = at + merge.dispatches.len();
        let mut program = program.clone();
        let scope = program.dispatches[at].scope;
        let gone: Vec<Dispatch> = program.dispatches.drain(at..end).collect();
        let all = gone.into_iter().filter_map(|dispatch| match dispatch.work {
            Work::Launches(launches) => Some(launches),
            Work::Host(_) => None,
        });
        let work = Work::Launches(all.flatten().collect());
        program.dispatches.insert(at, Dispatch { name: merge.name.clone(), scope, work });
        Ok(program)
    }

    fn inverse(&self, before: &Program, site: &Site) -> Result<(&'static str, Site), Finding> {
        let (at, merge) = located(before, site)?;
        let parts = before.dispatches[at..at + merge.dispatches.len()].iter();
        let part = |dispatch: &Dispatch| Part {
            name: dispatch.name.clone(),
            launches: launches(dispatch).len(),
        };
        let split = Split { dispatch: merge.name.clone(), parts: parts.map(part).collect() };
        Ok((SPLIT_DISPATCH, Site::Split(split)))
    }

    fn words(&self, _: &Program, site: &Site) -> String {
        let Site::Merge(merge) = site else { return NAME.to_owned() };
        format!("merge {} into one dispatch `{}`", merge.dispatches.join(" + "), merge.name)
    }
}

/// Where the first of the dispatches stands, once all preconditions hold.
fn located<'s>(program: &Program, site: &'s Site) -> Result<(usize, &'s Merge), Finding> {
    let Site::Merge(merge) = site else { return Err(wrong_site(NAME)) };
    let [first, _, ..] = merge.dispatches.as_slice() else {
        return Err(refuse("site", "fewer than two dispatches to merge", "name two neighbours"));
    };
    let at = dispatch_at(program, first)?;
    let scope = program.dispatches[at].scope;
    for (index, name) in merge.dispatches.iter().enumerate() {
        let found = dispatch_at(program, name)?;
        let text = if found != at + index {
            format!("`{name}` does not follow `{first}` in the program")
        } else if launches(&program.dispatches[found]).is_empty() {
            format!("`{name}` runs on the host")
        } else if program.dispatches[found].scope != scope {
            format!("`{name}` does not run once for each layer, as `{first}` does")
        } else {
            continue;
        };
        return Err(refuse(name, text, "merge neighbours on the array that run equally often"));
    }
    let taken = program.dispatches.iter().any(|dispatch| dispatch.name == merge.name);
    if taken && !merge.dispatches.contains(&merge.name) {
        let text = format!("there is another dispatch `{}`", merge.name);
        return Err(refuse("site", text, "give it a name of its own"));
    }
    Ok((at, merge))
}
