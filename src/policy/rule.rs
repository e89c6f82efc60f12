//! Judges a footprint. Pure, total, and the only place that does.

use super::footprint::Footprint;
use super::rules::Rules;
use crate::session::{Autonomy, Grant, Ruling};

/// Takes off the footprint what the stop allows, then what was granted; asks about what is left.
pub fn rule(autonomy: Autonomy, rules: &Rules, granted: &[Grant], footprint: &Footprint) -> Ruling {
    if let Some(path) = footprint.writes.iter().find(|path| path.is_in(&rules.protected)) {
        return Ruling::Deny { why: format!("`{path}` is protected: no call may write it") };
    }
    let beyond = beyond_stop(autonomy, rules, footprint.clone());
    if beyond.is_empty() {
        return Ruling::Allow { why: format!("within `{autonomy}`") };
    }
    let left = granted.iter().fold(beyond, beyond_grant);
    if left.is_empty() {
        return Ruling::Allow { why: "granted for this session".to_owned() };
    }
    Ruling::Ask { why: left.to_string() }
}

/// What no stop takes off here, every stop asks about.
fn beyond_stop(autonomy: Autonomy, rules: &Rules, mut footprint: Footprint) -> Footprint {
    footprint.reads.clear();
    if footprint.spends <= rules.budget {
        footprint.spends = 0;
    }
    if autonomy >= Autonomy::Guide {
        footprint.simulates = false;
        footprint.judges = None;
    }
    if autonomy >= Autonomy::Edit {
        footprint.writes.retain(|path| !path.is_in(&rules.edit_scope));
    }
    if autonomy >= Autonomy::Phase {
        footprint.runs = None;
    }
    if autonomy >= Autonomy::Auto {
        footprint.writes.clear();
        footprint.enters = None;
    }
    footprint
}

/// Part by part: what one grant leaves, another may cover.
fn beyond_grant(mut footprint: Footprint, grant: &Grant) -> Footprint {
    footprint.simulates &= !grant.simulates;
    footprint.judges.take_if(|gate| grant.judges.as_ref() == Some(gate));
    footprint.enters.take_if(|phase| grant.enters == Some(*phase));
    footprint.writes.retain(|path| !path.is_in(&grant.writes));
    let covers =
        |first: &Vec<String>, words: &[String]| !first.is_empty() && words.starts_with(first);
    footprint.runs.take_if(|words| grant.runs.as_ref().is_some_and(|first| covers(first, words)));
    footprint
}
