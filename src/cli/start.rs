//! Reads the words, runs the command, and ends with its code.

use std::env;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use super::args::{Args, Command};
use super::error::{Problem, report};
use crate::base::crash;

pub fn main() -> ExitCode {
    let args = Args::parse();
    match run(args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => ExitCode::from(report(&error)),
    }
}

fn run(args: Args) -> anyhow::Result<u8> {
    if let Some(words) = env::var_os("PILOTFISH_CRASH") {
        let armed = crash::arm(&words.to_string_lossy());
        armed.map_err(|finding| Problem::usage(finding.to_string(), ""))?;
    }
    let Some(command) = args.command else {
        Args::command().print_help()?;
        return Ok(0);
    };
    match command {
        Command::Deploy(deploy) => deploy.run(),
        Command::Resume(resume) => resume.run(),
        Command::Replay(replay) => replay.run(),
        Command::Fork(fork) => fork.run(),
        Command::Status(status) => status.run(),
        Command::Judge(judge) => judge.run(),
    }
}
