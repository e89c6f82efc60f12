//! The one interface of every mind: a prompt and outcomes in, a stream of replies out.

use std::pin::Pin;
use std::sync::Arc;

use futures::Stream;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::base::{CallId, PromptId};
use crate::session::{State, ToolCall, ToolOutcome, ToolSpec, Usage};

/// All that a mind is shown. Owned: a reply outlives the step that asked for it.
#[derive(Clone)]
pub struct Prompt {
    pub id: PromptId,
    pub state: Arc<State>,
    pub tools: Arc<Vec<ToolSpec>>,
    /// The texts of the skills that apply now, by name.
    pub skills: Vec<(String, String)>,
}

/// What calls come to while the mind replies. One that does not wait for them inside its turn
/// drops this, and finds them in the next prompt.
pub type Outcomes = UnboundedReceiver<(CallId, ToolOutcome)>;

/// Replies as they come. Dropping it cancels.
pub type ReplyStream = Pin<Box<dyn Stream<Item = Reply> + Send>>;

#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Part of a text that is still being said: a draft, not a fact.
    Draft(String),
    /// A whole text.
    Text(String),
    Call(ToolCall),
    /// An outcome was taken in, so that the next prompt need not bring it.
    Heard(CallId),
    /// The mind cannot go on, for this reason: a person is needed.
    Blocked(String),
    End {
        usage: Option<Usage>,
    },
}

pub trait Driver: Send {
    fn name(&self) -> String;

    fn reply(&mut self, prompt: Prompt, outcomes: Outcomes) -> ReplyStream;
}
