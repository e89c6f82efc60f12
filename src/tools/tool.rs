//! The one interface of every tool: say what it is, say what it would touch, do it.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::kit::Kit;
use crate::base::Stop;
use crate::policy::Footprint;
use crate::session::{Answer, Event, ToolCall, ToolOutcome, ToolSpec};
use crate::workspace::Patch;

/// Why a call cannot even be considered: no such tool, or arguments that make no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCall(pub String);

/// How a call ended, and what has happened to the deployment meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    pub outcome: ToolOutcome,
    /// Facts that a tool may bring: saved documents, snapshots, timings, phases, notes, memories.
    pub facts: Vec<Event>,
}

pub trait Tool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    /// What the call would touch. Pure: looks at arguments, never at the disk.
    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall>;

    /// The change of a file that the call would make, for a person to see before it is made.
    fn preview(&self, _: &ToolCall, _: &Kit) -> Option<Patch> {
        None
    }

    /// Does it in the form that was answered: as called, as edited, or some hunks of it.
    /// Long computations go to the blocking pool and look at `stop`.
    fn run(
        self: Arc<Self>,
        call: ToolCall,
        answer: Answer,
        kit: Kit,
        stop: Stop,
    ) -> BoxFuture<'static, Ran>;
}

/// The tools of a session, in the order in which a mind is told of them.
#[derive(Clone, Default)]
pub struct Toolbox(Vec<Arc<dyn Tool>>);

impl Toolbox {
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self(tools)
    }

    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0.iter().map(|tool| tool.spec()).collect()
    }

    pub fn find(&self, name: &str) -> Result<&Arc<dyn Tool>, BadCall> {
        let found = self.0.iter().find(|tool| tool.spec().name == name);
        found.ok_or_else(|| BadCall(format!("no tool is called `{name}`")))
    }

    pub fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        self.find(&call.tool)?.footprint(call)
    }
}

impl From<ToolOutcome> for Ran {
    fn from(outcome: ToolOutcome) -> Self {
        Self { outcome, facts: Vec::new() }
    }
}

impl Ran {
    pub fn with(mut self, fact: Event) -> Self {
        self.facts.push(fact);
        self
    }
}
