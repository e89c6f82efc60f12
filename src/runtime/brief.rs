//! What a prompt holds: the state, the tools, and the skills that apply now.

use std::sync::Arc;

use crate::agent::Prompt;
use crate::base::PromptId;
use crate::session::{Author, Event, State, ToolSpec};
use crate::skills::Library;

/// The facts to write down: each skill that comes before the mind now and has not for this reason.
pub(super) fn read(state: &State, library: &Library) -> Vec<(Author, Event)> {
    let known = |skill: &String, why: &String| {
        state.skills.iter().any(|(name, reason)| name == skill && reason == why)
    };
    let applied = library.applies(state).into_iter();
    let fresh = applied.filter(|applied| !known(&applied.skill, &applied.why));
    fresh
        .map(|applied| Event::SkillRead { skill: applied.skill, why: applied.why })
        .map(|event| (Author::System, event))
        .collect()
}

/// All that a mind is shown. The texts of every skill that applies go along, read or not: a mind
/// that keeps no conversation has nothing else.
pub(super) fn prompt(
    id: PromptId,
    state: Arc<State>,
    tools: Arc<Vec<ToolSpec>>,
    library: &Library,
) -> Prompt {
    let applied = library.applies(&state);
    let text = |name: &str| library.find(name).map(|skill| (name.to_owned(), skill.body.clone()));
    let skills = applied.iter().filter_map(|applied| text(&applied.skill)).collect();
    Prompt { id, state, tools, skills }
}

/// The words that a deployment begins with, when a person gives no others.
pub fn words(state: &State) -> String {
    format!(
        "Deploy `{}` on `{}`: sequence length {}, {} tokens as a sample. Go through the eight \
         phases, have each gate judged, and write the documents as you go.",
        state.model, state.target, state.seq, state.tokens
    )
}
