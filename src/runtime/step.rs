//! What follows from one input: facts to append, then work to start.

use super::effect::Effect;
use crate::session::{Author, Event};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    pub facts: Vec<(Author, Event)>,
    pub effects: Vec<Effect>,
}

impl Step {
    pub(super) fn fact(by: Author, event: Event) -> Self {
        Self { facts: vec![(by, event)], effects: Vec::new() }
    }

    /// A note for a person: `blocker`, `warning`, `resumed`.
    pub(super) fn note(by: Author, kind: &str, text: String) -> Self {
        Self::fact(by, Event::Noted { kind: kind.to_owned(), text, artifacts: Vec::new() })
    }

    pub(super) fn effect(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }

    pub(super) fn then(mut self, next: Self) -> Self {
        self.facts.extend(next.facts);
        self.effects.extend(next.effects);
        self
    }
}
