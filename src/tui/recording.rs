//! A recorded session: the facts, and how far they have been taken in.

use std::path::PathBuf;
use std::sync::Arc;

use super::action::Action;
use crate::session::{Entry, Event, State};

pub(super) struct Recording {
    pub folder: PathBuf,
    entries: Vec<Arc<Entry>>,
    /// How many facts the state is the fold of.
    at: usize,
    /// What is wrong with its log, of which only the whole facts are here.
    pub flaw: Option<String>,
}

impl Recording {
    /// Begins at the end: what came of it is what one wants to see first.
    pub(super) fn new(folder: PathBuf, entries: Vec<Arc<Entry>>) -> (Self, State) {
        let state = State::replay(entries.iter().map(|entry| &**entry));
        let at = entries.len();
        (Self { folder, entries, at, flaw: None }, state)
    }

    pub(super) fn position(&self) -> (usize, usize) {
        (self.at, self.entries.len())
    }

    /// The fact that was taken in last.
    pub(super) fn last(&self) -> Option<&Entry> {
        self.at.checked_sub(1).map(|at| &*self.entries[at])
    }

    /// The word of that fact in the log.
    pub(super) fn word(&self) -> String {
        let line = self.last().map(Entry::to_line);
        let line: Option<serde_json::Value> =
            line.and_then(|line| serde_json::from_str(&line).ok());
        line.and_then(|line| Some(line.get("type")?.as_str()?.to_owned())).unwrap_or_default()
    }

    /// Where phases begin, in facts taken in.
    pub(super) fn phases(&self) -> impl DoubleEndedIterator<Item = usize> {
        let entered =
            |(_, entry): &(usize, &Arc<Entry>)| matches!(entry.event, Event::PhaseEntered { .. });
        self.entries.iter().enumerate().filter(entered).map(|(at, _)| at + 1)
    }

    /// Moves; whether the action was one of moving in time.
    pub(super) fn act(&mut self, action: Action, state: &mut State) -> bool {
        let last = self.entries.len();
        let to = match action {
            Action::NextEvent => (self.at + 1).min(last),
            Action::PreviousEvent => self.at.saturating_sub(1).max(1),
            Action::FirstEvent => 1,
            Action::LastEvent => last,
            Action::NextPhase => self.phases().find(|at| *at > self.at).unwrap_or(last),
            Action::PreviousPhase => self.phases().rfind(|at| *at < self.at).unwrap_or(1),
            _ => return false,
        };
        self.go(to.min(last), state);
        true
    }

    pub(super) fn go(&mut self, to: usize, state: &mut State) {
        if to < self.at {
            *state = State::default();
            self.at = 0;
        }
        for entry in &self.entries[self.at..to] {
            state.apply(entry);
        }
        self.at = to;
    }
}
