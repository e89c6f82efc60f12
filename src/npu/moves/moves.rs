//! What a move is, and the moves there are.

use super::site::Site;
use super::{
    align_layout, make_static, mark_intermediate, merge_dispatches, move_to_host, move_to_npu,
    pad_dims, pad_heads, retile, split_dispatch,
};
use crate::base::{Finding, nearest};
use crate::npu::array::Array;
use crate::npu::program::Program;

/// A typed change of a program. It states no gain: what it is worth comes from the cost model.
pub trait Move: Sync {
    fn name(&self) -> &'static str;

    /// What it does and why that can pay, in one sentence.
    fn doc(&self) -> &'static str;

    /// Where it can be made, in the order of the program.
    fn sites(&self, program: &Program, array: &Array) -> Vec<Site>;

    /// The program after the move; a finding where the move's precondition does not hold.
    fn apply(&self, program: &Program, site: &Site, array: &Array) -> Result<Program, Finding>;

    /// The move that takes this one back, and its site, seen from the program before it.
    fn inverse(&self, before: &Program, site: &Site) -> Result<(&'static str, Site), Finding>;

    /// Moves that this one may make possible: where it costs time by itself, the search looks
    /// whether one of them pays for it.
    fn opens(&self) -> &'static [&'static str] {
        &[]
    }

    /// The move at this site in words for a person.
    fn words(&self, program: &Program, site: &Site) -> String;
}

static ALL: &[&dyn Move] = &[
    &merge_dispatches::MergeDispatches,
    &split_dispatch::SplitDispatch,
    &make_static::MakeStatic,
    &mark_intermediate::MarkIntermediate,
    &align_layout::AlignLayout,
    &retile::Retiler,
    &move_to_npu::MoveToNpu,
    &move_to_host::MoveToHost,
    &pad_heads::PadHeads,
    &pad_dims::PadDims,
];

pub fn all() -> &'static [&'static dyn Move] {
    ALL
}

pub fn find(name: &str) -> Option<&'static dyn Move> {
    ALL.iter().find(|made| made.name() == name).copied()
}

/// What to say of a name that is no move's.
pub fn unknown(name: &str) -> Finding {
    let finding = Finding::error("", format!("there is no move `{name}`")).rule("move");
    let names = ALL.iter().map(|made| made.name());
    match nearest(name, names.clone()) {
        Some(near) => finding.hint(format!("did you mean `{near}`?")),
        None => finding.hint(format!("there are {}", names.collect::<Vec<_>>().join(", "))),
    }
}
