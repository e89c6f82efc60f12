//! Runs the rules: those of one launch, those of one dispatch, those of the whole program.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Launch, Program, Work};

use super::place::place;
use super::{
    alignment, attention_alone, attention_heads, attention_layout, attention_tile, bare_herd,
    cache, cascade, contexts, down_first, drain_alone, extern_names, gemm_deny, gemm_divides,
    gemm_l1, gemm_l2, gemm_rows, gemm_stride, gemm_tile, gemv_bank, gemv_divides, gemv_k, gemv_l1,
    gemv_l2, gemv_repeat, herd, keys, layout, merge_size, merge_wide, names, operands, order,
    residency, rope_width, row_divides, scratch, vector_chain, vector_deny, vector_divides,
    vector_l1, vector_streams,
};

/// A rule of one launch, whatever its neighbours. Its finding has no place yet.
type LaunchRule = fn(&Launch, &Array) -> Option<Finding>;

/// A rule of one dispatch and what it reads and makes.
type DispatchRule = fn(&Dispatch, &[Launch], &Program, &Array) -> Vec<Finding>;

/// A rule of the whole program; it places its findings itself.
type ProgramRule = fn(&Program, &Array) -> Vec<Finding>;

const LAUNCH: &[LaunchRule] = &[
    bare_herd::find,
    herd::find,
    gemm_tile::find,
    gemm_divides::find,
    gemm_rows::find,
    gemm_l1::find,
    gemm_l2::find,
    gemm_stride::find,
    gemm_deny::find,
    gemv_divides::find,
    gemv_k::find,
    gemv_l1::find,
    gemv_bank::find,
    gemv_l2::find,
    gemv_repeat::find,
    vector_streams::find,
    vector_divides::find,
    vector_l1::find,
    vector_chain::find,
    vector_deny::find,
    row_divides::find,
    rope_width::find,
    attention_tile::find,
    attention_heads::find,
    alignment::find,
];

const DISPATCH: &[DispatchRule] = &[
    merge_size::find,
    attention_alone::find,
    merge_wide::find,
    down_first::find,
    drain_alone::find,
    cascade::find,
    extern_names::find,
    attention_layout::find,
    layout::find,
    scratch::find,
];

const PROGRAM: &[ProgramRule] = &[
    names::find,
    operands::find,
    order::find,
    residency::find,
    keys::find,
    cache::find,
    contexts::find,
];

/// All findings of a program, in the order of its dispatches. Errors are what the device or its
/// compiler refuses, and what it silently gets wrong.
pub fn check(program: &Program, array: &Array) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in PROGRAM {
        findings.extend(rule(program, array));
    }
    for dispatch in &program.dispatches {
        let Work::Launches(launches) = &dispatch.work else { continue };
        for (index, launch) in launches.iter().enumerate() {
            let place = place(program, dispatch, Some((index, launch)));
            for rule in LAUNCH {
                findings.extend(rule(launch, array).map(|finding| placed(finding, &place)));
            }
        }
        let place = place(program, dispatch, None);
        for rule in DISPATCH {
            let found = rule(dispatch, launches, program, array);
            findings.extend(found.into_iter().map(|finding| placed(finding, &place)));
        }
    }
    findings
}

/// The first reason why the device or its compiler refuses a launch alone.
pub fn refusal(launch: &Launch, array: &Array) -> Option<Finding> {
    LAUNCH.iter().filter_map(|rule| rule(launch, array)).find(Finding::is_error)
}

/// Whether no rule of a launch alone calls it an error.
pub(in crate::npu) fn legal(launch: &Launch, array: &Array) -> bool {
    !LAUNCH.iter().any(|rule| rule(launch, array).is_some_and(|finding| finding.is_error()))
}

/// Whether no rule of a launch alone says anything of it.
pub(in crate::npu) fn clean(launch: &Launch, array: &Array) -> bool {
    !LAUNCH.iter().any(|rule| rule(launch, array).is_some())
}

fn placed(mut finding: Finding, place: &str) -> Finding {
    if finding.place.is_empty() {
        place.clone_into(&mut finding.place);
    }
    finding
}
