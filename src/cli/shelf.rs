//! The screen of sessions and models, before any session is open.

use std::env;
use std::sync::Arc;

use super::places;
use super::replay::follow;
use crate::base::SystemClock;
use crate::tui::{self, Setup, Shelf};

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
