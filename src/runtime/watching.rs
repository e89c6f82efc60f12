//! Edits from outside: what a person changes in the workspace while a session lives, or before.

use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::request::Input;
use crate::base::{Finding, Hash};
use crate::session::State;
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

/// What is not as the log has it: changed while no session lived.
pub(super) fn changed(workspace: &Workspace, state: &State) -> Vec<(String, Hash)> {
    let now = |path: &str| workspace.hash(&Path::new(path).ok()?).ok()?;
    let documents = state.documents.iter();
    let found = documents.filter_map(|(path, known)| Some((path, known, now(path)?)));
    found
        .filter(|(_, known, now)| known.hash != *now)
        .map(|(path, _, now)| (path.clone(), now))
        .collect()
}
