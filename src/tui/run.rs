//! The loop of the screen: takes all that waits, then draws once.

use std::path::Path;

use super::choice::{Choice, Shelf};
use super::error::TuiError;
use super::setup::Setup;
use crate::runtime::Handle;

/// Shows a live session until the person leaves or the session ends.
pub async fn run(handle: Handle, setup: Setup) -> Result<(), TuiError> {
    let _ = (handle.subscribe().await, setup);
    Err(TuiError::NoTerminal)
}

/// Shows the session in this folder, event by event.
pub async fn replay(folder: &Path, setup: Setup) -> Result<Option<Choice>, TuiError> {
    let _ = (folder, setup);
    std::future::ready(Err(TuiError::NoTerminal)).await
}

/// Shows sessions, recordings and models to choose from.
pub async fn browse(shelf: Shelf, setup: Setup) -> Result<Option<Choice>, TuiError> {
    let _ = (shelf, setup);
    std::future::ready(Err(TuiError::NoTerminal)).await
}
