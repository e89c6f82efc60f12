//! The built-in mind: follows the recipes of the skills, needs no network, always does the same.

use std::sync::Arc;

use futures::stream;

use super::driver::{Driver, Outcomes, Prompt, Reply, ReplyStream};
use super::walk::{Halt, Walk};
use crate::base::shorten;
use crate::session::{Item, State};
use crate::skills::Library;

/// It remembers nothing of its own. On every prompt it walks the recipes from their start, and
/// the outcomes in the log stand for the calls it has made before; where they end, the next call
/// is made. So a session that was killed goes on by itself, and a call that was stopped is made
/// again.
pub struct Playbook {
    library: Arc<Library>,
}

impl Playbook {
    pub fn new(library: Arc<Library>) -> Self {
        Self { library }
    }

    /// The whole reply to a prompt, as a function of the state alone.
    pub fn replies(&self, state: &State) -> Vec<Reply> {
        let mut replies: Vec<_> = heard(state).map(Reply::Text).into_iter().collect();
        let Some(lead) = self.library.orchestrator() else {
            replies.push(Reply::Blocked("no skill `deploy-model` leads the way".to_owned()));
            replies.push(Reply::End { usage: None });
            return replies;
        };
        let mut walk = Walk::new(state, &self.library);
        let halt = walk.skill(&lead.name).err();
        replies.extend(walk.into_replies());
        if let Some(Halt::Blocked(why)) = halt {
            replies.push(Reply::Blocked(why));
        }
        replies.push(Reply::End { usage: None });
        replies
    }
}

impl Driver for Playbook {
    fn name(&self) -> String {
        "playbook".to_owned()
    }

    fn reply(&mut self, prompt: Prompt, _: Outcomes) -> ReplyStream {
        Box::pin(stream::iter(self.replies(&prompt.state)))
    }
}

/// A word about the words that nobody has answered yet; the first ones are the brief itself.
fn heard(state: &State) -> Option<String> {
    let items = &state.transcript.items;
    let is_ours = |item: &Item| matches!(item, Item::Agent(_) | Item::Call(_));
    let last = items.iter().rposition(|(_, item)| is_ours(item))?;
    let words = items[last..].iter().filter_map(|(_, item)| match item {
        Item::User(text) => Some(format!("“{}”", shorten(text.trim(), 120))),
        _ => None,
    });
    let words: Vec<_> = words.collect();
    (!words.is_empty()).then(|| {
        format!(
            "Heard: {}. I follow written recipes: reject a move to have it left out for good, \
             write `avoid <move>` to leave out its kind, or edit the files and I go on from there.",
            words.join(", ")
        )
    })
}
