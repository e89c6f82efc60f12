//! What a pane may look at: the folded state, drafts, what was loaded, and how to paint.

use std::collections::{BTreeMap, VecDeque};

use super::keymap::Keymap;
use super::load::{Loaded, Wanted};
use super::theme::Theme;
use crate::base::{CallId, Sample, Time};
use crate::runtime::Update;
use crate::session::State;

#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub state: &'a State,
    pub drafts: &'a Drafts,
    pub loaded: &'a Loaded,
    pub theme: &'a Theme,
    pub keymap: &'a Keymap,
    pub now: Time,
    /// The pane has the keys.
    pub focused: bool,
    /// The state is one of a recording: documents are shown as they were then.
    pub recorded: bool,
}

impl View<'_> {
    /// A document as it belongs to the state that is shown.
    pub(crate) fn document(&self, path: &str) -> Wanted {
        let then = self.state.documents.get(path).map(|document| document.hash.clone());
        Wanted::Document(path.to_owned(), then.filter(|_| self.recorded))
    }
}

/// What is being said and done now. Facts overtake it; it may be lost without harm.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drafts {
    /// The reply so far.
    pub saying: String,
    /// The last words of each call at work.
    pub working: BTreeMap<CallId, String>,
    /// The last bars of the live profile, oldest first.
    pub samples: VecDeque<Sample>,
    /// Time by lane and name since the live profile began.
    pub totals: BTreeMap<(String, String), (u64, u64)>,
    /// Why the session cannot go on.
    pub broken: Option<String>,
}

/// A live profile keeps this many bars; older ones stay in the totals.
const MOST_SAMPLES: usize = 4096;

impl Drafts {
    pub(crate) fn take(&mut self, update: &Update) {
        match update {
            Update::Saying(text) => self.saying.clone_from(text),
            Update::Working { call, words } => {
                self.working.insert(call.clone(), words.clone());
            }
            Update::Sample(sample) => self.sample(sample),
            Update::Broken(why) => self.broken = Some(why.clone()),
            Update::Fact(_) | Update::Idle => (),
        }
    }

    fn sample(&mut self, sample: &Sample) {
        // A bar that begins before the last one ended belongs to a new run.
        if self.samples.back().is_some_and(|last| sample.start_ns < last.start_ns) {
            self.samples.clear();
            self.totals.clear();
        }
        if self.samples.len() == MOST_SAMPLES {
            self.samples.pop_front();
        }
        let total = self.totals.entry((sample.lane.clone(), sample.name.clone())).or_default();
        *total = (total.0 + 1, total.1.saturating_add(sample.len_ns));
        self.samples.push_back(sample.clone());
    }

    pub(crate) fn end_call(&mut self, call: &CallId) {
        self.working.remove(call);
        if self.working.is_empty() {
            self.samples.clear();
            self.totals.clear();
        }
    }
}
