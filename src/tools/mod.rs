//! Hands that carry out a call.

mod args;
mod hand;
mod kit;
mod tool;
mod work;

mod change;
mod edit;
mod list;
mod read;
mod search;
mod write;
mod write_document;

mod ask;
mod note;
mod remember;
mod run;
mod skill;

mod effects;
mod programs;
mod undo;

mod check;
mod floor;
mod kernels;
mod lower;
mod open_model;
mod profile;
mod simulate;

mod apply_move;
mod suggest;
mod undo_move;

mod enter_phase;
mod gate;

mod device;
mod files;
mod toolbox;

pub use files::files;
pub use kit::Kit;
pub use tool::{BadCall, Ran, Tool, Toolbox};
pub use toolbox::toolbox;
