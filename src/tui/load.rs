//! What the screen shows beyond the state: documents, artifacts and proposals, fetched apart from
//! drawing.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::proposal::Proposal;
use crate::base::ArtifactId;
use crate::npu::Profile;
use crate::session::{Artifacts, ToolCall};

/// Something to fetch.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// A file of the workspace, by its path from the root.
    Document(String),
    Text(ArtifactId),
    Profile(ArtifactId),
    /// What a waiting call would change.
    Proposal(ToolCall),
}

#[derive(Clone, Debug)]
pub enum Got {
    Text(Arc<str>),
    Profile(Arc<Profile>),
    Proposal(Arc<Proposal>),
    /// It is not there, for this reason.
    Missing(String),
}

impl Wanted {
    fn key(&self) -> String {
        match self {
            Self::Document(path) => format!("document {path}"),
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
        if let Some(slot) = self.slots.get_mut(&Wanted::Document(path.to_owned()).key()) {
            slot.stale = true;
        }
        // A proposal is a difference from files that may now be others.
        self.slots.retain(|key, slot| !key.starts_with("proposal ") || slot.asked);
    }

    pub(crate) fn document(&self, path: &str) -> Option<&Got> {
        self.get(&Wanted::Document(path.to_owned()))
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

/// Fetches from the disk; called on the blocking pool.
#[derive(Clone, Debug)]
pub struct Loader {
    /// The root of the workspace.
    pub workspace: PathBuf,
    /// The folder of the session.
    pub session: PathBuf,
}

/// A longer document is cut: nobody reads it on a screen.
const MOST_TEXT: usize = 4 << 20;

impl Loader {
    pub fn fetch(&self, wanted: &Wanted) -> Got {
        match wanted {
            Wanted::Document(path) => match fs::read(self.workspace.join(path)) {
                Ok(bytes) => text(&bytes),
                Err(error) => Got::Missing(error.to_string()),
            },
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
                Got::Proposal(Arc::new(Proposal::of(call, &self.workspace)))
            }
        }
    }
}

fn text(bytes: &[u8]) -> Got {
    let most = &bytes[..bytes.len().min(MOST_TEXT)];
    Got::Text(String::from_utf8_lossy(most).into())
}
