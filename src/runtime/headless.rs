//! A session with nobody there: heard to its end, and how it ended.

use super::handle::{Ended, Handle};
use super::update::Update;
use crate::session::{Judged, Phase, State};

/// How a deployment ended; its number is the exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every gate passes, and the evaluator's.
    Passed,
    /// A gate failed, and nothing that was tried made it pass.
    Failed,
    /// A person is needed.
    Blocked,
}

impl Outcome {
    pub fn of(state: &State) -> Self {
        let done = state.phase == Phase::Evaluation && state.blocker.is_none();
        let passed = |gate: &str| state.gates.get(&gate.into()).is_some_and(Judged::passed);
        if done && passed("evaluator") && state.gates.values().all(Judged::passed) {
            return Self::Passed;
        }
        let failed = state.gates.values().any(Judged::failed);
        if failed { Self::Failed } else { Self::Blocked }
    }

    pub fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Blocked => 3,
        }
    }
}

/// Why it was not heard to the end.
#[derive(Debug, thiserror::Error)]
pub enum Cut {
    #[error("{0}")]
    Broken(String),
    #[error(transparent)]
    Ended(#[from] Ended),
}

/// Listens until nothing is at work any more. `tell` hears every fact in order, those of the past
/// first, and the drafts that were not lost.
pub async fn headless(handle: &Handle, mut tell: impl FnMut(&Update)) -> Result<State, Cut> {
    let mut told = 0;
    loop {
        let mut feed = handle.subscribe().await?;
        let mut state = feed.state;
        for fact in feed.past {
            if fact.seq >= told {
                told = fact.seq + 1;
                tell(&Update::Fact(fact));
            }
        }
        while let Some(update) = feed.updates.recv().await {
            match &update {
                Update::Fact(fact) if fact.seq >= told => {
                    told = fact.seq + 1;
                    state.apply(fact);
                }
                Update::Fact(_) => continue,
                Update::Idle => return Ok(state),
                Update::Broken(why) => return Err(Cut::Broken(why.clone())),
                _ => (),
            }
            tell(&update);
        }
        // Too slow for the feed, or the session ended: subscribing tells which.
    }
}
