//! `fork`: another workspace and session that share the past up to a fact.

use std::path::{Path, PathBuf};

use clap::Args;

use super::error::{Problem, mention};
use super::output;
use super::places;
use crate::policy::Presence;
use crate::runtime::{Branch, branch};
use crate::session::{Replay, find};
use crate::workspace::PRIVATE;

/// Begin another session that shares the past of one up to a fact
#[derive(Args)]
#[command(after_help = "Exit codes: 0, or 2 if there is no such session or fact.\n\nExamples:\n  \
    pilotfish fork tiny-llama-xdna2 --at 120\n  \
    pilotfish fork tiny-llama --at 40 --workspace other-way")]
pub(super) struct Fork {
    /// A workspace, a session's folder, the beginning of its id, or a recording's name
    session: String,
    /// The last fact that both share [default: the last there is]
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// The new folder, with the files as they were [default: <workspace>-at-<SEQ>]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

impl Fork {
    pub(super) fn of(folder: &Path, seq: u64) -> Self {
        Self { session: folder.display().to_string(), at: Some(seq), workspace: None }
    }

    pub(super) fn run(self) -> anyhow::Result<u8> {
        let (folder, root) = self.make()?;
        output::say(&folder.display().to_string());
        output::say(&format!("go on with `pilotfish resume {}`", root.display()));
        Ok(0)
    }

    /// The new session's folder, and its workspace.
    pub(super) fn make(self) -> anyhow::Result<(PathBuf, PathBuf)> {
        let from = find(&self.session, &places::workspaces().list(), &places::recordings())?;
        let from = places::whole(&from);
        let (replay, _) = Replay::open(&from)?;
        let last = replay.facts().checked_sub(1);
        let last = last.ok_or_else(|| Problem::usage("the session has no facts yet", ""))?;
        let seq = self.at.unwrap_or(last);
        let root = match self.workspace {
            Some(root) => root,
            None => beside(&from, seq)?,
        };
        if root.exists() {
            let what = format!("`{}` is there already", root.display());
            return Err(Problem::usage(what, "say where the fork goes with `--workspace DIR`"));
        }
        let Branch { folder, findings } =
            branch(&from, seq, &root, &places::world(Presence::Attended)?)?;
        mention(&findings);
        let _ = places::workspaces().remember(&places::whole(&root));
        Ok((folder, root))
    }
}

/// Beside the workspace of the session; a recording has none.
fn beside(session: &Path, seq: u64) -> anyhow::Result<PathBuf> {
    let inside = session.parent().filter(|up| up.ends_with(format!("{PRIVATE}/sessions")));
    let root = inside.and_then(|sessions| sessions.ancestors().nth(2));
    let named = root.and_then(|root| Some((root, root.file_name()?.to_string_lossy())));
    let place = named.map(|(root, name)| root.with_file_name(format!("{name}-at-{seq}")));
    place.ok_or_else(|| {
        Problem::usage(
            format!("`{}` is a recording: it has no workspace of its own", session.display()),
            "say where the fork goes with `--workspace DIR`",
        )
    })
}
