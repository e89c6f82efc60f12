//! A live session: the log, its state, and the one way to move both.

use std::sync::Arc;

use super::brief;
use super::decide::decide;
use super::effect::Effect;
use super::request::Input;
use crate::base::Clock;
use crate::policy::Rules;
use crate::session::{Author, Entry, Event, Log, LogError, State};
use crate::skills::Library;
use crate::tools::Toolbox;

pub struct Live {
    log: Log,
    state: State,
    rules: Rules,
    tools: Toolbox,
    skills: Arc<Library>,
    clock: Arc<dyn Clock>,
}

/// What a session did with one input. The facts are on the disk; the work has not begun.
#[derive(Debug, Default)]
pub struct Moved {
    pub facts: Vec<Arc<Entry>>,
    pub effects: Vec<Effect>,
}

impl Live {
    /// Folds what the log holds. Nothing moves yet: a log that is opened again gets
    /// `Input::Resumed` first.
    pub fn new(
        log: Log,
        rules: Rules,
        tools: Toolbox,
        skills: Arc<Library>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let state = State::replay(log.entries().iter().map(|entry| &**entry));
        Self { log, state, rules, tools, skills, clock }
    }

    /// Decides, appends, applies; returns the work that follows. If the facts cannot be written
    /// they have not happened, and nothing follows from them.
    pub fn step(&mut self, input: Input) -> Result<Moved, LogError> {
        let step = decide(&self.state, &self.rules, &self.tools, input);
        let mut facts = self.append(step.facts)?;
        if step.effects.iter().any(|effect| matches!(effect, Effect::Prompt(_))) {
            facts.extend(self.append(brief::read(&self.state, &self.skills))?);
        }
        Ok(Moved { facts, effects: step.effects })
    }

    /// Appends facts that nothing decides on: how a session began.
    pub(super) fn append(
        &mut self,
        facts: Vec<(Author, Event)>,
    ) -> Result<Vec<Arc<Entry>>, LogError> {
        if facts.is_empty() {
            return Ok(Vec::new());
        }
        let entries = self.log.append_all(self.clock.now(), facts)?;
        for entry in &entries {
            self.state.apply(entry);
        }
        Ok(entries)
    }

    pub fn log(&self) -> &Log {
        &self.log
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn tools(&self) -> &Toolbox {
        &self.tools
    }

    pub fn skills(&self) -> &Library {
        &self.skills
    }

    /// Nothing is at work, and nothing is asked.
    pub fn is_idle(&self) -> bool {
        !self.state.busy && self.state.open_calls().next().is_none()
    }
}
