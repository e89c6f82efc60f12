//! What the screen shows beyond the state, fetched apart from drawing.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::proposal::Proposal;
use crate::base::{ArtifactId, Hash};
use crate::npu::Profile;
use crate::session::{Artifacts, Grant, ToolCall};
use crate::workspace::Path;

/// Something to fetch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// A file of the workspace, by its path from the root; as it is now, or as it was then.
    Document(String, Option<Hash>),
    Text(ArtifactId),
    Profile(ArtifactId),
    /// What a waiting call would change.
    Proposal(ToolCall),
}

#[derive(Clone, Debug)]
pub(crate) enum Got {
    Text(Arc<str>),
    Profile(Arc<Profile>),
    Proposal(Arc<Proposal>),
    /// It is not there, for this reason.
    Missing(String),
}

impl Wanted {
    fn key(&self) -> String {
        match self {
            Self::Document(path, None) => format!("document {path}"),
            Self::Document(path, Some(hash)) => format!("document {path} {hash}"),
            Self::Text(id) => format!("text {id}"),
            Self::Profile(id) => format!("profile {id}"),
            Self::Proposal(call) => format!("proposal {}", call.id),
        }
    }
}

/// What was fetched, and what is on its way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loaded {
    slots: BTreeMap<String, Slot>,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    got: Option<Got>,
    asked: bool,
    /// It has changed since: what is there is shown until the new one comes.
    stale: bool,
}

impl Loaded {
    /// Whether this must be fetched now; from then on it counts as being on its way.
    pub(crate) fn ask(&mut self, wanted: &Wanted) -> bool {
        let slot = self.slots.entry(wanted.key()).or_default();
        let needed = (slot.got.is_none() || slot.stale) && !slot.asked;
        if needed {
            (slot.asked, slot.stale) = (true, false);
        }
        needed
    }

    pub(crate) fn put(&mut self, wanted: &Wanted, got: Got) {
        let slot = self.slots.entry(wanted.key()).or_default();
        slot.asked = false;
        slot.got = Some(got);
    }

    /// A document was saved: the text that is here is no longer all there is.
    pub(crate) fn changed(&mut self, path: &str) {
        if let Some(slot) = self.slots.get_mut(&Wanted::Document(path.to_owned(), None).key()) {
            slot.stale = true;
        }
        self.forget_proposals();
    }

    /// A proposal is a difference from files, and those may now be others.
    pub(crate) fn forget_proposals(&mut self) {
        for (_, slot) in self.slots.iter_mut().filter(|(key, _)| key.starts_with("proposal ")) {
            slot.stale = true;
        }
    }

    pub(crate) fn get(&self, wanted: &Wanted) -> Option<&Got> {
        self.slots.get(&wanted.key())?.got.as_ref()
    }

    pub(crate) fn proposal(&self, call: &ToolCall) -> Option<&Arc<Proposal>> {
        match self.get(&Wanted::Proposal(call.clone())) {
            Some(Got::Proposal(proposal)) => Some(proposal),
            _ => None,
        }
    }

    pub(crate) fn profile(&self, id: &ArtifactId) -> Option<&Arc<Profile>> {
        match self.get(&Wanted::Profile(id.clone())) {
            Some(Got::Profile(profile)) => Some(profile),
            _ => None,
        }
    }
}

/// Tells what `always` would grant for a call.
pub(crate) type Granting = Arc<dyn Fn(&ToolCall) -> Option<Grant> + Send + Sync>;

/// Fetches from the disk; called on the blocking pool.
#[derive(Clone)]
pub(crate) struct Loader {
    /// The root of the workspace; a recording may have none.
    pub workspace: Option<PathBuf>,
    /// The folder of the session.
    pub session: PathBuf,
    pub granting: Granting,
}

/// A longer document is cut: nobody reads it on a screen.
const MOST_TEXT: usize = 4 << 20;

impl Loader {
    pub(crate) fn fetch(&self, wanted: &Wanted) -> Got {
        match wanted {
            Wanted::Document(path, then) => self.document(path, then.as_ref()),
            Wanted::Text(id) => match Artifacts::of(&self.session).read(id) {
                Ok(bytes) => text(&bytes),
                Err(error) => Got::Missing(error.to_string()),
            },
            Wanted::Profile(id) => {
                let bytes = Artifacts::of(&self.session).read(id).map_err(|e| e.to_string());
                let parsed = bytes
                    .and_then(|bytes| serde_json::from_slice(&bytes).map_err(|e| e.to_string()));
                match parsed {
                    Ok(profile) => Got::Profile(Arc::new(profile)),
                    Err(why) => Got::Missing(why),
                }
            }
            Wanted::Proposal(call) => {
                let workspace = self.workspace.as_deref().unwrap_or(&self.session);
                let mut proposal = Proposal::of(call, workspace);
                proposal.grant = (self.granting)(call);
                Got::Proposal(Arc::new(proposal))
            }
        }
    }

    /// As it was then, if the session keeps that; as it is now otherwise.
    fn document(&self, path: &str, then: Option<&Hash>) -> Got {
        let kept = then.map(|hash| ArtifactId::from(hash.as_str()));
        if let Some(Ok(bytes)) = kept.map(|id| Artifacts::of(&self.session).read(&id)) {
            return text(&bytes);
        }
        let Ok(path) = Path::new(path) else {
            return Got::Missing("it is outside of the workspace".to_owned());
        };
        let Some(workspace) = &self.workspace else {
            return Got::Missing("the recording does not hold it".to_owned());
        };
        match fs::read(workspace.join(path.as_str())) {
            Ok(bytes) => text(&bytes),
            Err(error) => Got::Missing(error.to_string()),
        }
    }
}

fn text(bytes: &[u8]) -> Got {
    let most = &bytes[..bytes.len().min(MOST_TEXT)];
    Got::Text(String::from_utf8_lossy(most).into())
}
