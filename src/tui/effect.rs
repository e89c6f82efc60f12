//! What a key may bring about beyond the screen: carried out by `tui::run`, never by a pane.

use super::choice::Choice;
use crate::base::{ArtifactId, CallId};
use crate::runtime::Request;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask the session for something.
    Ask(Request),
    /// Open a file of the workspace in the person's editor.
    EditDocument(String),
    /// Let the person rewrite a proposal in their editor; what they save is applied.
    EditProposal {
        call: CallId,
        path: String,
        text: String,
    },
    /// Let the person write their message in their editor.
    EditDraft(String),
    /// Show an artifact on the whole screen.
    Show {
        title: String,
        artifact: ArtifactId,
    },
    Suspend,
    Redraw,
    /// Leave, with something for whoever opened the screen to do.
    Choose(Choice),
    Quit,
}
