//! What can go wrong with the files of a session.

use std::path::PathBuf;

use crate::base::FileError;

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(
        "another process writes to the session `{}`\n hint: look at it with `pilotfish replay`, or \
         end the other process first",
        folder.display()
    )]
    Locked { folder: PathBuf },
    #[error(
        "the log is broken at `{}` line {line}: {why}\n hint: the {} facts before it are whole; \
         `pilotfish fork` goes on from the last of them",
        log.display(),
        line - 1
    )]
    Broken { log: PathBuf, line: u64, why: String },
    #[error("there is a session in `{}` already\n hint: open it, or take another id", folder.display())]
    Exists { folder: PathBuf },
    #[error(
        "the log `{}` takes no more facts since a write to it failed\n hint: {hint}",
        log.display()
    )]
    Closed { log: PathBuf, hint: &'static str },
    #[error("`{word}` names no session{}", near.as_ref().map_or_else(String::new, |near| format!("\n hint: did you mean `{near}`?")))]
    Unknown { word: String, near: Option<String> },
    #[error("`{word}` may mean {}\n hint: write more of the id, or the path", which.join(", "))]
    Ambiguous { word: String, which: Vec<String> },
    #[error("there is no fact {seq} in `{}`: it has {facts}", log.display())]
    Beyond { log: PathBuf, seq: u64, facts: u64 },
}
