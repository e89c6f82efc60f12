//! What a key may bring about beyond the screen: carried out by `tui::run`, never by a pane.

use crate::base::CallId;
use crate::runtime::Request;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask the session for something.
    Ask(Request),
    /// Open a file of the workspace in the person's editor.
    EditDocument(String),
    /// Let the person rewrite a proposal in their editor; what they save is applied.
    EditProposal { call: CallId, path: String, text: String },
    /// Let the person write their message in their editor.
    EditDraft(String),
    Suspend,
    Redraw,
    Quit,
}
