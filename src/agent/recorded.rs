//! A mind that says again what a recorded session's mind has said.

use std::collections::VecDeque;

use futures::stream;

use super::driver::{Driver, Outcomes, Prompt, Reply, ReplyStream};
use crate::base::PromptId;
use crate::session::{Entry, Event};

/// Its replies, in the order in which the recorded session prompted for them.
pub struct Recorded {
    name: String,
    replies: VecDeque<Vec<Reply>>,
}

impl Recorded {
    /// Cuts a log into replies: what the mind said between a prompt and the end of its reply.
    pub fn new<'a>(name: &str, entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut replies = VecDeque::new();
        let mut open: Option<Vec<Reply>> = None;
        for entry in entries {
            match &entry.event {
                Event::Prompted { .. } => replies.extend(open.replace(Vec::new())),
                Event::Replied { usage } => {
                    if let Some(mut reply) = open.take() {
                        reply.push(Reply::End { usage: *usage });
                        replies.push_back(reply);
                    }
                }
                event => {
                    let said = match event {
                        Event::AgentSaid { text } => Some(Reply::Text(text.clone())),
                        Event::Called(call) => Some(Reply::Call(call.clone())),
                        Event::Heard { call } => Some(Reply::Heard(call.clone())),
                        _ => None,
                    };
                    if let (Some(said), Some(reply)) = (said, &mut open) {
                        reply.push(said);
                    }
                }
            }
        }
        replies.extend(open);
        Self { name: name.to_owned(), replies }
    }

    /// Leaves out what a session that is opened again has heard already: prompts are counted.
    pub fn after(mut self, had: PromptId) -> Self {
        let had = usize::try_from(had.number()).unwrap_or(usize::MAX);
        self.replies.drain(..had.min(self.replies.len()));
        self
    }
}

impl Driver for Recorded {
    fn name(&self) -> String {
        format!("replay:{}", self.name)
    }

    /// The next reply; where the recording has ended, it has nothing to say.
    fn reply(&mut self, _: Prompt, _: Outcomes) -> ReplyStream {
        let mut reply = self.replies.pop_front().unwrap_or_default();
        if !matches!(reply.last(), Some(Reply::End { .. })) {
            reply.push(Reply::End { usage: None });
        }
        Box::pin(stream::iter(reply))
    }
}
