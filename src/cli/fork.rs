//! `fork`: another session that shares the past up to a fact.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::Problem;
use super::output;
use super::places;
use crate::session::{self, Replay, Store, find};
use crate::workspace::{PRIVATE, SETTINGS, Settings, Workspace};

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
    /// Where the new session goes: a recording has no workspace of its own [default: the same]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

impl Fork {
    pub(super) fn of(folder: &Path, seq: u64) -> Self {
        Self { session: folder.display().to_string(), at: Some(seq), workspace: None }
    }

    pub(super) fn run(self) -> anyhow::Result<u8> {
        let from = find(&self.session, &places::workspaces().list(), &places::recordings())?;
        let from = places::whole(&from);
        let (replay, _) = Replay::open(&from)?;
        let last = replay.facts().checked_sub(1);
        let last = last.ok_or_else(|| Problem::usage("the session has no facts yet", ""))?;
        let seq = self.at.unwrap_or(last);
        let root = match &self.workspace {
            Some(root) => root.clone(),
            None => own_workspace(&from)?,
        };
        let (clock, ids) = places::time()?;
        let id = ids.session(clock.now());
        let to = Store::of(root.join(PRIVATE).join("sessions")).session(&id);
        let log = session::fork(&from, seq, &to, clock.now())?;
        if !root.join(SETTINGS).exists() {
            let state = replay.state_at(seq);
            let mut settings = Settings::of(state.model);
            (settings.target, settings.agent) = (state.target, state.agent);
            (settings.seq, settings.tokens, settings.seed) = (state.seq, state.tokens, state.seed);
            state.autonomy.name().clone_into(&mut settings.autonomy);
            let text = settings.write_into("").map_err(|f| Problem::usage(f.to_string(), ""))?;
            fs::write(root.join(SETTINGS), text)?;
        }
        drop(log);
        let _ = places::workspaces().remember(Workspace::open(&root)?.root());
        output::say(&format!("{}", to.display()));
        output::say(&format!("go on with `pilotfish resume {}`", to.display()));
        Ok(0)
    }
}

fn own_workspace(session: &Path) -> anyhow::Result<PathBuf> {
    let inside = session.parent().filter(|up| up.ends_with(format!("{PRIVATE}/sessions")));
    let root = inside.and_then(|sessions| sessions.ancestors().nth(2)).map(Path::to_owned);
    root.ok_or_else(|| {
        Problem::usage(
            format!("`{}` is a recording: it has no workspace of its own", session.display()),
            "say where the new session goes with `--workspace DIR`",
        )
    })
}
