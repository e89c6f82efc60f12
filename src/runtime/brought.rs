//! Which facts a tool may bring: what it did to the deployment, never what others have to say.

use super::step::Step;
use crate::policy::Footprint;
use crate::session::{Author, Event, ToolCall};

/// The fact as it goes into the log, or a warning in its place.
pub(super) fn brought(call: &ToolCall, footprint: &Footprint, fact: Event) -> Step {
    let by = match &fact {
        Event::DocumentSaved { .. } | Event::Remembered { .. } | Event::Noted { .. } => {
            Some(Author::Agent)
        }
        Event::Snapshotted { .. } | Event::Profiled(_) => Some(Author::System),
        // Only what the policy was told of, and nothing beside it.
        Event::PhaseEntered { phase } => {
            (footprint.enters == Some(*phase)).then_some(Author::System)
        }
        // Asked at every stop, so a person has said yes to it.
        Event::ToleranceChanged { gate, .. } => {
            footprint.loosens.contains(gate).then_some(Author::User)
        }
        _ => None,
    };
    let Some(by) = by else {
        let text = format!("`{}` brought a fact that no tool may bring: {fact:?}", call.tool);
        return Step::note(Author::System, "warning", crate::base::shorten(&text, 400));
    };
    Step::fact(by, fact)
}
