//! `npu`: the device alone: legality, functional run, cost and floors, without a session.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::error::Problem;
use super::npu_cost::Cost;
use super::npu_floor::Floors;
use super::npu_simulate::Simulate;
use super::output;
use crate::base::Finding;
use crate::npu::{Array, Program, ProgramText, check};

/// The device alone: check, simulate, cost, floor
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0, 1 if the program is not legal, 2 for what cannot be read.\n\n\
    Examples:\n  pilotfish npu check tiny-llama-xdna2\n  \
    pilotfish npu cost tiny-llama-xdna2/program/prefill.toml\n  pilotfish npu cost rows.csv --json\n  \
    pilotfish npu floor llama-3.2-1b --seq 2048"
)]
pub(super) struct Npu {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What the device or its compiler would refuse
    Check {
        /// Program files, or a workspace
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        #[arg(long)]
        json: bool,
    },
    Simulate(Simulate),
    Cost(Cost),
    Floor(Floors),
}

impl Npu {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        match self.command {
            Command::Check { paths, json } => check_all(&paths, json),
            Command::Simulate(simulate) => simulate.run(),
            Command::Cost(cost) => cost.run(),
            Command::Floor(floors) => floors.run(),
        }
    }
}

fn check_all(paths: &[PathBuf], as_json: bool) -> anyhow::Result<u8> {
    let array = Array::xdna2();
    let (mut findings, mut unreadable) = (Vec::new(), false);
    for path in paths.iter().flat_map(|path| program_files(path)) {
        match parse(&path)? {
            Ok(program) => findings.extend(check(&program, &array)),
            Err(found) => {
                unreadable = true;
                findings.extend(found);
            }
        }
    }
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    if as_json {
        output::json(&findings)?;
    } else {
        for finding in &findings {
            output::say(&finding.to_string());
        }
        let others = findings.len() - errors;
        output::say(&format!("{errors} errors, {others} other findings"));
    }
    Ok(match (unreadable, errors) {
        (true, _) => super::error::USAGE,
        (false, 0) => 0,
        (false, _) => super::error::FAILED,
    })
}

/// A program file, or those of a workspace.
pub(super) fn program_files(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        return ["prefill", "decode"]
            .map(|stage| path.join(format!("program/{stage}.toml")))
            .to_vec();
    }
    vec![path.to_owned()]
}

/// The program in a file, or what is wrong with its text.
pub(super) fn parse(path: &Path) -> anyhow::Result<Result<Program, Vec<Finding>>> {
    let text = fs::read_to_string(path).map_err(|error| {
        let what = format!("cannot read `{}`: {error}", path.display());
        Problem::usage(what, "name a program file, or a workspace that has `program/`")
    })?;
    let (program, findings) = ProgramText::parse(&path.display().to_string(), &text);
    match program {
        Some(program) if !findings.iter().any(Finding::is_error) => {
            Ok(Ok(program.program().clone()))
        }
        _ => Ok(Err(findings)),
    }
}

/// As `parse`, for commands that can do nothing without it.
pub(super) fn program(path: &Path) -> anyhow::Result<Program> {
    parse(path)?.map_err(|findings| {
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        Problem::usage(told.join("\n"), "")
    })
}
