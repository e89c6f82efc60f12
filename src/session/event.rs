//! The facts: everything that can have happened in a session. A closed list, in the past tense.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::artifact::Artifact;
use super::autonomy::Autonomy;
use super::call::{Answer, Ruling, ToolCall, ToolOutcome};
use super::judged::Judged;
use super::phase::Phase;
use super::trajectory::Profiled;
use crate::base::{CallId, GateId, Hash, PromptId, SessionId};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The first fact: what is deployed, where, by whom.
    Opened {
        model: String,
        target: String,
        agent: String,
        seq: usize,
        tokens: usize,
        seed: u64,
        /// The program's version.
        version: String,
    },
    AutonomySet {
        autonomy: Autonomy,
    },
    UserSaid {
        text: String,
    },
    /// A mind was asked, and shown all that was unread. It owes a reply until `Replied`.
    Prompted {
        prompt: PromptId,
    },
    AgentSaid {
        text: String,
    },
    Called(ToolCall),
    Ruled {
        call: CallId,
        ruling: Ruling,
    },
    /// What a call that asks would change, for whoever is asked.
    Proposed {
        call: CallId,
        diff: Artifact,
    },
    Answered {
        call: CallId,
        answer: Answer,
    },
    Returned {
        call: CallId,
        outcome: ToolOutcome,
    },
    /// A mind took in an outcome while it was replying.
    Heard {
        call: CallId,
    },
    Replied {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    Judged(Box<Judged>),
    PhaseEntered {
        phase: Phase,
    },
    /// A skill was put before the mind, for this reason.
    SkillRead {
        skill: String,
        why: String,
    },
    /// A result worth keeping beyond this session.
    Remembered {
        text: String,
    },
    /// A document of the workspace is now this; `by` of the entry says whose hand it was.
    DocumentSaved {
        path: String,
        hash: Hash,
    },
    /// The tree was frozen before something changed it.
    Snapshotted {
        snapshot: Hash,
        why: String,
    },
    Profiled(Box<Profiled>),
    ToleranceChanged {
        gate: GateId,
        metric: String,
        from: String,
        to: String,
        why: String,
    },
    Forked {
        from: SessionId,
        at: u64,
    },
    TurnEnded,
    /// Anything else that a person should see: blockers, warnings, resumptions.
    Noted {
        kind: String,
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        artifacts: Vec<Artifact>,
    },
    /// A fact of a later version: kept as it is, and passed on.
    #[serde(skip)]
    Unknown {
        kind: String,
        raw: Value,
    },
}

impl From<Judged> for Event {
    fn from(judged: Judged) -> Self {
        Self::Judged(Box::new(judged))
    }
}

/// What a reply cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// `None`: not known, shown as `n/a`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cents: Option<f64>,
}
