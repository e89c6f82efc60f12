//! Why a screen could not be shown, or had to go.

use std::io;

use crate::session::LogError;

#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    #[error(
        "there is no terminal to draw on\n hint: run it in a terminal, or use `--headless`, or `--json`"
    )]
    NoTerminal,
    #[error("the terminal: {0}")]
    Terminal(#[from] io::Error),
    #[error(transparent)]
    Log(#[from] LogError),
}
