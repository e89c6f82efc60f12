//! `replay`: looks through a session without touching it.

use std::env;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;

use clap::Args;

use super::deploy::Deploy;
use super::error::mention;
use super::facts::Teller;
use super::fork::Fork;
use super::output;
use super::places;
use super::resume::Resume;
use super::summary;
use crate::base::SystemClock;
use crate::session::{self, find};
use crate::tui::{self, Choice, Setup};

/// Look through a session, event by event, without touching it
#[derive(Args)]
#[command(after_help = "Exit codes: 0, or 2 if there is no such session.\n\nExamples:\n  \
    pilotfish replay tiny-llama\n  pilotfish replay tiny-llama-xdna2 --json")]
pub(super) struct Replay {
    /// A workspace, a session's folder, the beginning of its id, or a recording's name
    session: String,
    /// Print the facts, one line of JSON each
    #[arg(long)]
    json: bool,
    /// Print the facts as lines, and do not open the screen
    #[arg(long)]
    headless: bool,
}

impl Replay {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let folder = find(&self.session, &places::workspaces().list(), &places::recordings())?;
        if !self.json && !self.headless && io::stdout().is_terminal() {
            return screen(&folder);
        }
        let (replay, findings) = session::Replay::open(&folder)?;
        mention(&findings);
        let mut teller = Teller::default();
        for fact in replay.entries() {
            if self.json { output::raw(&fact.to_line()) } else { teller.tell(fact) }
        }
        if !self.json {
            let state = replay.state();
            for line in summary::table(&state).iter().chain(&summary::ending(&state)) {
                output::say(line);
            }
        }
        Ok(0)
    }
}

/// The screen, and what the person chose on it.
pub(super) fn screen(folder: &Path) -> anyhow::Result<u8> {
    let setup = Setup::of(Arc::new(SystemClock), |name| env::var(name).ok());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let choice = runtime.block_on(tui::replay(folder, setup))?;
    runtime.shutdown_background();
    choice.map_or(Ok(0), follow)
}

/// Carries out what a person chose on a screen that is closed now.
pub(super) fn follow(choice: Choice) -> anyhow::Result<u8> {
    match choice {
        Choice::Resume(folder) => Resume::of(&folder).run(),
        Choice::Replay(folder) => screen(&folder),
        Choice::Fork { folder, seq } => Resume::of(&Fork::of(&folder, seq).make()?.0).run(),
        Choice::Deploy(model) => Deploy::of(model).run(),
    }
}
