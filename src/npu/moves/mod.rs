//! Moves: typed changes of a program, each with its precondition and its inverse.

mod moves;
mod site;
mod table;

mod align_layout;
mod make_static;
mod mark_intermediate;
mod merge_dispatches;
mod move_to_host;
mod move_to_npu;
mod pad_dims;
mod pad_heads;
mod retile;
mod split_dispatch;

mod attention;
mod edit;
mod head;
mod name;
mod pairs;
mod reside;
mod resize;

pub use moves::Move;
pub use site::{Align, Heads, Merge, Pad, Part, Place, Reside, Retile, Retiling, Site, Split};
pub use table::{all, find, unknown};
