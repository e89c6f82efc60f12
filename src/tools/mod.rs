//! Hands that carry out a call.

mod kit;
mod tool;

pub use kit::Kit;
pub use tool::{BadCall, Ran, Tool, Toolbox};
