//! What a change of a program comes to, in parts that tell equal roads from similar ones.
//! two that only look alike.

use std::collections::{BTreeMap, BTreeSet};

use crate::npu::{Program, Work};

/// The parts of a change, in order. A move that does all of another's parts does what it does,
/// wherever it is made and whatever it is called.
pub(super) fn effects(before: &Program, after: &Program) -> Vec<String> {
    let (was, is) = (facts(before), facts(after));
    let changed = is.into_iter().filter(|(what, how)| was.get(what) != Some(how));
    let mut parts: Vec<String> = changed.map(|(what, how)| format!("{what}: {how}")).collect();
    let (apart, joined) = (joints(before), joints(after));
    parts.extend(joined.difference(&apart).map(|(a, b)| format!("{a} and {b} in one call")));
    parts.extend(apart.difference(&joined).map(|(a, b)| format!("{a} and {b} in two calls")));
    parts
}

/// What is said of buffers and of what is made, by name.
fn facts(program: &Program) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for buffer in &program.buffers {
        let name = &buffer.name;
        let (residency, scope) = (buffer.residency, buffer.scope);
        facts.insert(format!("residency of {name}"), format!("{residency:?} {scope:?}"));
        facts.insert(format!("layout of {name}"), format!("{:?}", buffer.layout));
        facts.insert(format!("shape of {name}"), format!("{:?} {:?}", buffer.shape, buffer.dtype));
    }
    for dispatch in &program.dispatches {
        match &dispatch.work {
            Work::Host(op) => {
                let made = op.outputs.iter().map(|name| (format!("place of {name}"), "host"));
                facts.extend(made.map(|(what, place)| (what, place.to_owned())));
            }
            Work::Launches(launches) => {
                for launch in launches {
                    let name = launch.outputs.first().map_or("", String::as_str);
                    facts.insert(format!("place of {name}"), "array".to_owned());
                    let how = format!("{:?} {:?} {:?}", launch.kernel, launch.tile, launch.herd);
                    facts.insert(format!("kernel of {name}"), how);
                }
            }
        }
    }
    facts
}

/// Neighbouring launches of one dispatch, by what they make.
fn joints(program: &Program) -> BTreeSet<(String, String)> {
    let mut joints = BTreeSet::new();
    for dispatch in &program.dispatches {
        let Work::Launches(launches) = &dispatch.work else { continue };
        let made = |at: usize| launches[at].outputs.first().cloned().unwrap_or_default();
        joints.extend((1..launches.len()).map(|at| (made(at - 1), made(at))));
    }
    joints
}
