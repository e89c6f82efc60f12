//! What all moves do with a program: find, rename, retile, insert and take away.

use std::collections::BTreeSet;

use super::site::Retiling;
use crate::base::{Finding, nearest};
use crate::npu::array::Array;
use crate::npu::lower::{Tiling, gemv, nearest as nearest_tiling, row_herd, vector};
use crate::npu::program::{
    Buffer, Dispatch, Dtype, HostOp, Kernel, Launch, Method, Program, Residency, Work,
};

/// The finding of a precondition that does not hold.
pub(super) fn refuse(place: &str, text: impl Into<String>, hint: impl Into<String>) -> Finding {
    Finding::error(place, text).rule("move").hint(hint)
}

/// The site is of another move.
pub(super) fn wrong_site(name: &str) -> Finding {
    refuse("site", format!("this is no site of `{name}`"), "pass the `site` of a suggestion")
}

pub(super) fn dispatch_at(program: &Program, name: &str) -> Result<usize, Finding> {
    let found = program.dispatches.iter().position(|dispatch| dispatch.name == name);
    found.ok_or_else(|| {
        let names = program.dispatches.iter().map(|dispatch| dispatch.name.as_str());
        let hint = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "look at the names in the program file".to_owned(),
        };
        refuse(program.stage.name(), format!("there is no dispatch `{name}`"), hint)
    })
}

pub(super) fn buffer_mut<'p>(
    program: &'p mut Program,
    name: &str,
) -> Result<&'p mut Buffer, Finding> {
    let place = program.stage.name();
    let found = program.buffers.iter_mut().find(|buffer| buffer.name == name);
    found.ok_or_else(|| {
        let hint = "look at the names in the program file";
        refuse(place, format!("there is no buffer `{name}`"), hint)
    })
}

pub(super) fn launches(dispatch: &Dispatch) -> &[Launch] {
    match &dispatch.work {
        Work::Launches(launches) => launches,
        Work::Host(_) => &[],
    }
}

pub(super) fn host(dispatch: &Dispatch) -> Option<&HostOp> {
    match &dispatch.work {
        Work::Host(op) => Some(op),
        Work::Launches(_) => None,
    }
}

/// A name that no other dispatch has: `wanted`, or `wanted_2` and so on.
pub(super) fn free_name(wanted: &str, program: &Program, except: &[&str]) -> String {
    let taken: BTreeSet<&str> = program
        .dispatches
        .iter()
        .map(|dispatch| dispatch.name.as_str())
        .filter(|name| !except.contains(name))
        .collect();
    let mut names = (1..).map(|n| if n == 1 { wanted.to_owned() } else { format!("{wanted}_{n}") });
    names.find(|name| !taken.contains(name.as_str())).expect("a finite number of names is taken")
}

/// Inserts a buffer right after another, or at the end.
pub(super) fn insert_after(program: &mut Program, after: &str, buffer: Buffer) {
    let at = program.buffers.iter().position(|other| other.name == after);
    program.buffers.insert(at.map_or(program.buffers.len(), |at| at + 1), buffer);
}

/// Removes buffers that nothing names any more.
pub(super) fn remove_unused(program: &mut Program, names: &[String]) {
    let used: BTreeSet<String> = program
        .dispatches
        .iter()
        .flat_map(|dispatch| match &dispatch.work {
            Work::Host(op) => op.inputs.iter().chain(&op.outputs).cloned().collect::<Vec<_>>(),
            Work::Launches(launches) => {
                let names = launches.iter().flat_map(|l| l.inputs.iter().chain(&l.outputs));
                names.cloned().collect()
            }
        })
        .collect();
    program.buffers.retain(|buffer| !names.contains(&buffer.name) || used.contains(&buffer.name));
}

/// What a launch is known by: the first buffer that it makes.
pub(super) fn makes(launch: &Launch) -> &str {
    launch.outputs.first().map_or("", String::as_str)
}

/// The tilings of the launches that `wanted` says yes to, as a site can state them.
pub(super) fn tilings_of(program: &Program, wanted: impl Fn(&Launch) -> bool) -> Vec<Retiling> {
    let all = program.dispatches.iter().flat_map(launches);
    let tiling = |launch: &Launch| Retiling {
        makes: makes(launch).to_owned(),
        tiling: Tiling::of_launch(launch).to_string(),
    };
    all.filter(|launch| wanted(launch)).map(tiling).collect()
}

/// Gives one launch of a dispatch another tiling; a fused cast gets its f32 scratch, others lose
/// it.
pub(super) fn retile(
    program: &mut Program,
    dispatch: usize,
    launch: usize,
    tiling: Tiling,
) -> Result<(), Finding> {
    let seen = &mut program.dispatches[dispatch];
    let name = seen.name.clone();
    let Work::Launches(launches) = &mut seen.work else {
        return Err(refuse(&name, "the host has no tiles", "name a dispatch with launches"));
    };
    let launch = &mut launches[launch];
    if tiling.method.is_some() != matches!(launch.kernel, Kernel::Gemm { .. }) {
        let text = format!("`{tiling}` is no tiling of `{}`", launch.kernel.name());
        return Err(refuse(&name, text, "a GEMM's tiling begins with its method"));
    }
    launch.kernel = tiling.kernel(launch.kernel);
    launch.tile = tiling.tile;
    launch.herd = tiling.herd;
    let Kernel::Gemm { m, n, method, .. } = launch.kernel else { return Ok(()) };
    let result = makes(launch).to_owned();
    if method == Method::FusedCast && launch.outputs.len() == 1 {
        let scratch = format!("{result}_f32");
        launch.outputs.push(scratch.clone());
        if program.buffer(&scratch).is_none() {
            let scope = program.buffer(&result).map(|buffer| buffer.scope).unwrap_or_default();
            insert_after(
                program,
                &result,
                Buffer {
                    name: scratch,
                    shape: vec![m, n],
                    dtype: Dtype::F32,
                    layout: crate::npu::program::Layout::SeqFirst,
                    residency: Residency::Intermediate,
                    scope,
                    fill: None,
                },
            );
        }
    } else if method != Method::FusedCast && launch.outputs.len() > 1 {
        let gone = launch.outputs.split_off(1);
        remove_unused(program, &gone);
    }
    Ok(())
}

/// The tiling that lowering would choose for a kernel; `None` where the kernel has but one.
pub(super) fn by_rule(kernel: &Kernel, program: &Program, array: &Array) -> Option<Tiling> {
    Some(match *kernel {
        Kernel::Gemm { m, k, n, .. } => nearest_tiling(m, k, n, array).0,
        Kernel::Gemv { k, n } => gemv(k, n, array).0,
        Kernel::RmsNorm { rows, .. }
        | Kernel::LayerNorm { rows, .. }
        | Kernel::Rope { rows, .. }
        | Kernel::BiasAdd { rows, .. } => row_herd(rows, program.stage, array),
        Kernel::FlashAttention { .. } => return None,
        _ => vector(kernel, array).0,
    })
}

/// The tiling that a site states for a launch, if it does.
pub(super) fn stated(tilings: &[Retiling], made: &str) -> Result<Option<Tiling>, Finding> {
    let Some(stated) = tilings.iter().find(|tiling| tiling.makes == made) else { return Ok(None) };
    parse_tiling(&stated.tiling).map(Some)
}

pub(super) fn parse_tiling(text: &str) -> Result<Tiling, Finding> {
    Tiling::parse(text).ok_or_else(|| {
        let hint = "write it as `drain 32/256/32/128 on 8x4`: m/k_l2/k_l1/n, columns x rows";
        refuse("site", format!("`{text}` is no tiling"), hint)
    })
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
