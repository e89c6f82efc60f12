//! No command: the screen with recent sessions and models, if there is a terminal; else the help.

use std::env;
use std::io::{self, IsTerminal};
use std::sync::Arc;

use clap::CommandFactory;

use super::args::Args;
use super::places;
use super::replay::follow;
use crate::base::SystemClock;
use crate::model::bundled_names;
use crate::tui::{self, Setup, Shelf};

pub(super) fn run() -> anyhow::Result<u8> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        Args::command().print_long_help()?;
        return Ok(0);
    }
    shelf(bundled_names().map(str::to_owned).to_vec())
}

/// The screen of sessions, with these models for a new deployment; then what was chosen there.
pub(super) fn shelf(models: Vec<String>) -> anyhow::Result<u8> {
    let setup = Setup::of(Arc::new(SystemClock), |name| env::var(name).ok());
    let workspaces = places::workspaces().list();
    let shelf = Shelf { workspaces, recordings: places::recordings(), models };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let choice = runtime.block_on(tui::browse(shelf, setup))?;
    runtime.shutdown_background();
    choice.map_or(Ok(0), follow)
}
