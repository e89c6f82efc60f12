//! What a tool works with: the workspace, its artifacts and settings, the model and the array.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::base::{Hash, Progress};
use crate::model::Model;
use crate::npu::{Array, Outline};
use crate::pipeline::{open_model, outline};
use crate::session::{Artifact, Artifacts, Event, ToolOutcome};
use crate::skills::Library;
use crate::workspace::{Limits, Settings, Snapshot, Workspace, WorkspaceError};

/// Cheap to clone: what is big in it is opened once, when first asked for, and shared.
#[derive(Clone)]
pub struct Kit {
    /// Where drafts of the call at work go.
    pub progress: Progress,
    pub workspace: Workspace,
    pub artifacts: Artifacts,
    pub settings: Arc<Settings>,
    pub skills: Arc<Library>,
    /// The file of results worth keeping beyond a session.
    pub memory: PathBuf,
    opened: Arc<Opened>,
}

#[derive(Default)]
struct Opened {
    model: OnceLock<Result<Arc<Model>, String>>,
    array: OnceLock<Arc<Array>>,
}

impl Kit {
    /// For the session whose artifacts these are. Nothing is read before it is needed.
    pub fn open(
        settings: &Settings,
        workspace: Workspace,
        artifacts: Artifacts,
        skills: Arc<Library>,
    ) -> Self {
        let memory = workspace.private("memory.jsonl");
        Self {
            progress: Progress::silent(),
            workspace,
            artifacts,
            settings: Arc::new(settings.clone()),
            skills,
            memory,
            opened: Arc::default(),
        }
    }

    /// The same kit, telling its drafts to somebody.
    pub fn with_progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// The network that the settings name; the words of an error have its hint with them.
    pub fn model(&self) -> Result<Arc<Model>, String> {
        let open = || match open_model(&self.settings, self.workspace.root()) {
            Ok(model) => Ok(Arc::new(model)),
            Err(error) => Err(match error.hint() {
                "" => error.to_string(),
                hint => format!("{error}\n hint: {hint}"),
            }),
        };
        self.opened.model.get_or_init(open).clone()
    }

    /// The device that programs are for.
    pub fn array(&self) -> Arc<Array> {
        Arc::clone(self.opened.array.get_or_init(|| Arc::new(Array::xdna2())))
    }

    /// What lowering must know of the network.
    pub fn outline(&self) -> Result<Outline, String> {
        Ok(outline(&*self.model()?))
    }

    /// The files as they are now, frozen.
    pub fn freeze(&self) -> Result<Snapshot, WorkspaceError> {
        Snapshot::freeze(&self.workspace, &Limits::default())
    }

    /// The fact that the tree was frozen before a change of it.
    pub fn frozen(&self, why: impl Into<String>) -> Result<Event, WorkspaceError> {
        let snapshot: Hash = self.freeze()?.hash().clone();
        Ok(Event::Snapshotted { snapshot, why: why.into() })
    }

    /// Keeps something big beside the log; the outcome of the call then names it.
    pub fn keep(
        &self,
        kind: &str,
        headline: impl Into<String>,
        bytes: &[u8],
    ) -> Result<Artifact, ToolOutcome> {
        let kept = self.artifacts.put(kind, headline, bytes);
        kept.map_err(|error| ToolOutcome::failed(error.to_string()))
    }
}

impl fmt::Debug for Kit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kit").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}
