//! Moves: typed changes of a program, each with its precondition and its inverse.

mod moves;
mod site;

pub use moves::{Move, all, find, unknown};
pub use site::{Align, Heads, Merge, Pad, Part, Place, Reside, Retile, Retiling, Site, Split};
