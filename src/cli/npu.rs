//! `npu`: the device alone: legality, functional run, cost and floors, without a session.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::exit;
use super::npu_calibrate::Calibrate;
use super::npu_cost::Cost;
use super::npu_floor::Floors;
use super::npu_numerics::Numerics;
use super::npu_predict::Predict;
use super::npu_program::{parse, program_files};
use super::npu_simulate::Simulate;
use super::output;
use crate::npu::{Array, check};

/// The device alone: check, simulate, numerics, cost, floor, predict, calibrate
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0, 1 if the program is not legal, 2 for what cannot be read.\n\n\
    Examples:\n  pilotfish npu check tiny-llama-xdna2\n  \
    pilotfish npu cost tiny-llama-xdna2/program/prefill.toml\n  pilotfish npu cost rows.csv --json\n  \
    pilotfish npu numerics gemm --method drain\n  \
    pilotfish npu floor llama-3.2-1b --seq 2048\n  \
    pilotfish npu predict qwen3-1.7b --seq 2048 --context 512\n  \
    pilotfish npu calibrate rows.csv --out coefficients.toml"
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
    Numerics(Numerics),
    Cost(Cost),
    Floor(Floors),
    Predict(Predict),
    Calibrate(Calibrate),
}

impl Npu {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        match self.command {
            Command::Check { paths, json } => check_all(&paths, json),
            Command::Simulate(simulate) => simulate.run(),
            Command::Numerics(numerics) => numerics.run(),
            Command::Cost(cost) => cost.run(),
            Command::Floor(floors) => floors.run(),
            Command::Predict(predict) => predict.run(),
            Command::Calibrate(calibrate) => calibrate.run(),
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
        (true, _) => exit::USAGE,
        (false, 0) => 0,
        (false, _) => exit::FAILED,
    })
}
