//! What comes in: wishes of a face, and answers of running effects.

use crate::agent::Reply;
use crate::base::{CallId, GateId, Hash, PromptId};
use crate::session::{Answer, Artifact, Autonomy, Event, Judged, ToolOutcome};

/// What a face may ask of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Say(String),
    Answer {
        call: CallId,
        answer: Answer,
    },
    SetAutonomy(Autonomy),
    Judge(GateId),
    /// A document of the workspace was changed by a hand that is not ours.
    Edited {
        path: String,
    },
    Interrupt,
}

/// Everything that can make a session move.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Request(Request),
    /// The session was opened again: what was at work is gone with its process.
    Resumed,
    Reply {
        prompt: PromptId,
        reply: Reply,
    },
    /// A call ended, with the facts that it brought about.
    Returned {
        call: CallId,
        outcome: ToolOutcome,
        facts: Vec<Event>,
    },
    /// What a call that asks would change.
    Proposed {
        call: CallId,
        diff: Artifact,
    },
    /// A document was found changed, and this is what it is now.
    Edited {
        path: String,
        hash: Hash,
    },
    /// With the call that asked for it, if one did.
    Judged(Box<Judged>, Option<CallId>),
}
