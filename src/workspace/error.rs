//! What can go wrong with the files of a workspace.

use crate::base::{FileError, Hash};

use super::path::{EscapesRoot, Path};

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Path(#[from] EscapesRoot),
    #[error(
        "`{path}` leads out of the workspace through the link `{link}`\n hint: replace the link by what it points to"
    )]
    Escapes { path: Path, link: String },
    #[error(
        "`{path}` is a link, and a write would replace it\n hint: write to what it points to, or remove it"
    )]
    Link { path: Path },
    #[error(
        "`{path}` is not text: byte {at} is not UTF-8\n hint: convert it, or leave it to another tool"
    )]
    NotText { path: Path, at: usize },
    #[error(
        "the workspace holds too much to freeze: {what}\n hint: keep models and build folders outside of it"
    )]
    TooMuch { what: String },
    #[error("there is no `{path}` in the snapshot {}", snapshot.short())]
    NotInSnapshot { path: Path, snapshot: Hash },
    #[error("the snapshot {} is damaged: {why}\n hint: freeze the workspace again", snapshot.short())]
    Damaged { snapshot: Hash, why: String },
    #[error("`{path}`: {why}")]
    Edit { path: Path, why: String },
}

impl WorkspaceError {
    /// Whether the file is simply not there.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::File(error) => error.is_missing(),
            Self::NotInSnapshot { .. } => true,
            _ => false,
        }
    }
}
