//! Hands that carry out a call.

mod args;
mod ask;
mod change;
mod edit;
mod files;
mod kit;
mod list;
mod note;
mod read;
mod remember;
mod run;
mod search;
mod skill;
mod tool;
mod work;
mod write;
mod write_document;

pub use files::files;
pub use kit::Kit;
pub use tool::{BadCall, Ran, Tool, Toolbox};
