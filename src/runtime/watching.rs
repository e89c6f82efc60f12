//! Edits from outside: what a person changes in the workspace while a session lives, or before.

use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::request::Input;
use crate::base::{Finding, Hash};
use crate::session::{Artifacts, CallRecord, CallState, State, ToolOutcome};
use crate::tools::Toolbox;
use crate::workspace::{Path, Workspace};

/// Tells the session of every edit until it is dropped. What only the engine writes is left out.
pub(super) fn start(
    workspace: &Workspace,
    sealed: Vec<String>,
    inputs: mpsc::Sender<Input>,
) -> Result<AbortOnDropHandle<()>, Finding> {
    let mut watch = workspace.watch().map_err(|error| {
        let place = workspace.root().display().to_string();
        let hint = "edits by hand are noticed when the session is opened again";
        Finding::warning(place, format!("the files cannot be watched: {error}")).hint(hint)
    })?;
    let task = tokio::spawn(async move {
        while let Some(seen) = watch.next().await {
            for seen in seen {
                // A file that is gone is no edit: whoever needs it makes it again.
                let Some(hash) = seen.hash.filter(|_| !seen.path.is_in(&sealed)) else { continue };
                let edited = Input::Edited { path: seen.path.to_string(), hash };
                if inputs.send(edited).await.is_err() {
                    return;
                }
            }
        }
    });
    Ok(AbortOnDropHandle::new(task))
}

/// What is not as the log has it: changed while no session lived. A file that the last call to
/// write it did not come to write is as it was before that call, and nobody's edit.
pub(super) fn changed(
    workspace: &Workspace,
    state: &State,
    tools: &Toolbox,
) -> Vec<(String, Hash)> {
    let now = |path: &Path| workspace.hash(path).ok()?;
    let documents = state.documents.iter().filter_map(|(name, known)| {
        let path = Path::new(name).ok()?;
        let now = now(&path)?;
        (known.hash != now && !is_undone(&path, state, tools)).then(|| (name.clone(), now))
    });
    documents.collect()
}

/// Keeps a document as a person left it, so that a recording can show it. Nothing is lost where
/// that fails: the file itself is still there.
pub(super) fn keep(workspace: &Workspace, artifacts: &Artifacts, input: &Input) {
    let Input::Edited { path: name, hash } = input else { return };
    let Ok(path) = Path::new(name) else { return };
    if matches!(name.rsplit_once('.'), Some((_, "md")))
        && let Ok(bytes) = workspace.read(&path)
        && Hash::of(&bytes) == *hash
    {
        let _ = artifacts.put("document", name.as_str(), &bytes);
    }
}

fn is_undone(path: &Path, state: &State, tools: &Toolbox) -> bool {
    let writes = |record: &&CallRecord| {
        tools.footprint(&record.call).is_ok_and(|footprint| footprint.writes.contains(path))
    };
    let last = state.calls.iter().rev().find(writes);
    last.is_some_and(|record| {
        matches!(record.state, CallState::Running | CallState::Ended(ToolOutcome::Stopped))
    })
}
