//! The transcript: the session as a person reads it.

use super::artifact::Artifact;
use super::entry::Author;
use super::judged::Verdict;
use super::phase::Phase;
use crate::base::{CallId, GateId};

/// One thing on the transcript; `seq` of the pair is the fact that put it there.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    User(String),
    Agent(String),
    /// Its state is in `State::calls`.
    Call(CallId),
    Judged {
        gate: GateId,
        verdict: Verdict,
        headline: String,
    },
    Phase(Phase),
    Skill {
        skill: String,
        why: String,
    },
    Document {
        path: String,
        by: Author,
    },
    Note {
        kind: String,
        text: String,
        artifacts: Vec<Artifact>,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    pub items: Vec<(u64, Item)>,
}

impl Transcript {
    pub(super) fn push(&mut self, seq: u64, item: Item) {
        self.items.push((seq, item));
    }
}
