//! The mind of a session, built from the words of its settings.

use std::sync::Arc;

use super::error::OpenError;
use super::world::World;
use crate::agent::{Driver, Playbook, Recorded};
use crate::base::PromptId;
use crate::session::{Replay, find};
use crate::skills::Library;

/// `playbook`, or `replay:<session>`; `had` is the last prompt that was answered in this session.
pub(super) fn mind(
    spec: &str,
    had: PromptId,
    library: &Arc<Library>,
    world: &World,
) -> Result<Box<dyn Driver>, OpenError> {
    let refuse = |why: String, hint| Err(OpenError::Agent { spec: spec.to_owned(), why, hint });
    match spec.split_once(':') {
        None if spec == "playbook" => Ok(Box::new(Playbook::new(Arc::clone(library)))),
        Some(("replay", word)) => {
            let folder = find(word, &world.workspaces, &world.recordings)?;
            let (replay, _) = Replay::open(&folder)?;
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let entries = replay.entries().iter().map(|entry| &**entry);
            Ok(Box::new(Recorded::new(&name, entries).after(had)))
        }
        Some((kind @ ("anthropic" | "openai" | "acp"), _)) => refuse(
            format!("is not built yet: no adapter for `{kind}` exists"),
            "take `playbook`, which needs no key and no network, or `replay:<session>`",
        ),
        _ => refuse(
            "is none that is known".to_owned(),
            "take `playbook` or `replay:<session>`; `anthropic:`, `openai:` and `acp:` are to come",
        ),
    }
}
