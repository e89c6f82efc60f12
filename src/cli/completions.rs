//! `completions`: what a shell must know to complete our words.

use std::io;

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use super::output;

/// Print the completions of a shell
#[derive(Args)]
#[command(
    after_help = "Example:\n  pilotfish completions bash > ~/.local/share/bash-completion/completions/pilotfish"
)]
pub(super) struct Completions {
    shell: Shell,
}

impl Completions {
    /// `words`: all of ours, of which this command is one.
    pub(super) fn run(self, mut words: Command) {
        let mut bytes = io::Cursor::new(Vec::new());
        generate(self.shell, &mut words, "pilotfish", &mut bytes);
        output::bytes(bytes.get_ref());
    }
}
