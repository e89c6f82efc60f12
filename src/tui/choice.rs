//! What a person chose on a screen that is then closed: whoever opened it carries it out.

use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Go on with the session in this folder.
    Resume(PathBuf),
    /// Look through the session in this folder.
    Replay(PathBuf),
    /// Go on from this fact of the session in this folder, in a session of its own.
    Fork { folder: PathBuf, seq: u64 },
    /// Begin with this model.
    Deploy(String),
}

/// What there is to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shelf {
    /// Roots of known workspaces, the last opened first.
    pub workspaces: Vec<PathBuf>,
    /// Folders that hold recordings.
    pub recordings: Vec<PathBuf>,
    /// What a new deployment may begin with: none are shown by `browse`.
    pub models: Vec<String>,
}
