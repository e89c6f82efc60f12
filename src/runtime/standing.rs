//! What a person would grant by answering "always".

use crate::session::{Grant, ToolCall};
use crate::tools::toolbox;

/// The widest standing answer that a call offers; `None`: it asks every time.
pub fn always(call: &ToolCall) -> Option<Grant> {
    toolbox().footprint(call).ok()?.grant()
}
