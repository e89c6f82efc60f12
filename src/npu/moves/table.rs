//! The moves there are, and each by its name.

use super::moves::Move;
use super::{
    align_layout, make_static, mark_intermediate, merge_dispatches, move_to_host, move_to_npu,
    pad_dims, pad_heads, retile, split_dispatch,
};
use crate::base::{Finding, nearest};

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
