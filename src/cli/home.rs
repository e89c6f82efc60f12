//! No command: the screen with recent sessions and models, if there is a terminal; else the help.

use std::io::{self, IsTerminal};

use clap::CommandFactory;

use super::args::Args;
use super::shelf::shelf;
use crate::model::bundled_names;

pub(super) fn run() -> anyhow::Result<u8> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        Args::command().print_long_help()?;
        return Ok(0);
    }
    shelf(bundled_names().map(str::to_owned).to_vec())
}
