//! `judge`: the independent evaluator alone; and its other form, the process that a session starts.

use std::io;
use std::path::PathBuf;

use clap::Args;

use super::error::Problem;
use super::exit::{BLOCKED, FAILED};
use super::output;
use crate::base::Progress;
use crate::pipeline::{Evaluation, judge_workspace, worker};
use crate::session::Verdict;

/// The independent evaluator alone: judge a workspace anew, whoever made it
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 pass, 1 fail, 2 it cannot be judged, 3 blocked.\n\nExamples:\n  \
    pilotfish judge tiny-llama-xdna2\n  \
    pilotfish judge tiny-llama-xdna2 --gate logits --json"
)]
pub(super) struct Judge {
    /// The folder of the deployment
    #[arg(required_unless_present = "worker")]
    workspace: Option<PathBuf>,
    /// One gate instead of the whole evaluation
    #[arg(long, value_name = "ID")]
    gate: Option<String>,
    /// One object instead of lines
    #[arg(long)]
    json: bool,
    /// Of the inputs that are drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Serve a session: a request on stdin, answers on stdout
    #[arg(long, hide = true, conflicts_with_all = ["gate", "json", "workspace"])]
    worker: bool,
}

impl Judge {
    pub(super) fn of(workspace: PathBuf, gate: String, json: bool) -> Self {
        Self { workspace: Some(workspace), gate: Some(gate), json, seed: 0, worker: false }
    }

    pub(super) fn run(self) -> anyhow::Result<u8> {
        if self.worker {
            worker::serve(io::stdin().lock(), io::stdout().lock())?;
            return Ok(0);
        }
        let workspace = self.workspace.unwrap_or_default();
        let progress =
            if self.json { Progress::silent() } else { Progress::to(output::complain, |_| ()) };
        let gate = self.gate.as_deref();
        let judged = judge_workspace(&workspace, gate, self.seed, &progress);
        let evaluation = judged.map_err(|why| Problem::usage(why, ""))?;
        if self.json {
            output::json(&evaluation)?;
        } else {
            tell(&evaluation);
        }
        Ok(match evaluation.verdict {
            Verdict::Pass => 0,
            Verdict::Fail => FAILED,
            Verdict::Blocked => BLOCKED,
        })
    }
}

fn tell(evaluation: &Evaluation) {
    for gate in &evaluation.gates {
        let killed = gate.mutants.iter().filter(|mutant| mutant.killed == Some(true)).count();
        let mutants = match gate.mutants.len() {
            0 => "mutants: none yet".to_owned(),
            all => format!("{killed} of {all} mutants killed"),
        };
        output::say(&format!("{}: {} · {} · {mutants}", gate.id, gate.verdict, gate.headline));
    }
    output::say(&format!("verdict: {}", evaluation.verdict));
}
