//! Why a session could not be opened.

use std::path::PathBuf;

use crate::base::{FileError, Finding};
use crate::session::LogError;
use crate::workspace::WorkspaceError;

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0}")]
    Finding(Finding),
    #[error("`{}` is a recording, not a session of a workspace\n hint: look at it with `pilotfish replay`, or go on from it with `pilotfish fork`", folder.display())]
    Recording { folder: PathBuf },
    #[error("the agent `{spec}` {why}\n hint: {hint}")]
    Agent { spec: String, why: String, hint: &'static str },
    #[error("the target `{spec}` is not built yet: only `sim` is\n hint: take `--target sim`")]
    Target { spec: String },
}

impl From<Finding> for OpenError {
    fn from(finding: Finding) -> Self {
        Self::Finding(finding)
    }
}
