//! Reads the words, runs the command, and ends with its code.

use std::env;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use super::args::{Args, Command};
use super::error::{Problem, report};
use super::home;
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
        return home::run();
    };
    match command {
        Command::Deploy(deploy) => deploy.run(),
        Command::Resume(resume) => resume.run(),
        Command::Replay(replay) => replay.run(),
        Command::Fork(fork) => fork.run(),
        Command::Status(status) => status.run(),
        Command::Browse(browse) => browse.run(),
        Command::Judge(judge) => judge.run(),
        Command::Gate(gates) => gates.run(),
        Command::Oracle(oracle) => oracle.run(),
        Command::Npu(npu) => npu.run(),
        Command::Skills(skills) => skills.run(),
        Command::Model(models) => models.run(),
        Command::Fmt(fmt) => fmt.run(),
        Command::Schema(schema) => schema.run(),
        Command::Completions(completions) => {
            completions.run(Args::command());
            Ok(0)
        }
    }
}
