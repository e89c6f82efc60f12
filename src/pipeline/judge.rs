//! The independent evaluator alone: a verdict on any workspace, whoever made it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::case::Case;
use super::evaluate::{conclude, evaluate};
use super::frozen::Frozen;
use super::gate::gate;
use super::gates::evaluation;
use super::phase::needs;
use crate::base::{GateId, Hash, Progress};
use crate::session::{Judged, Metric, MutantJudged, Phase, Verdict};

/// What `judge --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    pub verdict: Verdict,
    pub gates: Vec<GateLine>,
    /// The text of the report that now stands at `reports/`.
    pub report: String,
}

/// One gate of an evaluation; `measured` and `threshold` are those of the closest call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateLine {
    pub id: GateId,
    pub verdict: Verdict,
    pub claim: String,
    pub headline: String,
    pub threshold: String,
    pub measured: f64,
    pub margin: f64,
    pub mutants: Vec<MutantJudged>,
    pub receipt: Hash,
}

/// Judges a workspace anew, by one gate or by all of them. Receipts and reports are kept in it.
///
/// # Errors
/// When it cannot begin: no workspace, settings that cannot be read, an unknown gate.
pub fn judge_workspace(
    workspace: &Path,
    only: Option<&str>,
    seed: u64,
    progress: &Progress,
) -> Result<Evaluation, String> {
    let frozen = Frozen::of(workspace)?;
    let root = frozen.root.clone();
    let id = only.unwrap_or("evaluator");
    let gate = gate(id).ok_or_else(|| format!("there is no gate `{id}`"))?;
    let phase = last_phase(id);
    let case = Case::open(frozen, phase, seed, progress.clone())?;
    let (answer, on_the_way) = if id == "evaluator" {
        let (judgement, answers) = evaluation(&case);
        (conclude(gate, &case, judgement), answers)
    } else {
        (evaluate(gate, &case), Vec::new())
    };
    let (verdict, report) = (answer.judged.verdict, answer.report.clone());
    let keep = |answer: Answer| {
        answer.keep(&root).map_err(|error| format!("the receipt cannot be kept: {error}"))
    };
    let mut gates = Vec::new();
    for answer in on_the_way.into_iter().chain([answer]) {
        gates.push(GateLine::of(keep(answer)?));
    }
    Ok(Evaluation { verdict, gates, report })
}

/// The last phase that asks for a gate asks for the most.
fn last_phase(id: &str) -> Phase {
    let asks = |phase: &Phase| needs(*phase).contains(&id);
    Phase::ALL.into_iter().rev().find(asks).unwrap_or_default()
}

impl GateLine {
    fn of(judged: Judged) -> Self {
        let order =
            |metric: &&Metric| if metric.margin.is_nan() { f64::MIN } else { metric.margin };
        let hard = judged.metrics.iter().filter(|metric| metric.hard);
        let closest = hard.min_by(|a, b| order(a).total_cmp(&order(b)));
        Self {
            threshold: closest
                .map(|metric| format!("{} {}", metric.name, metric.threshold))
                .unwrap_or_default(),
            measured: closest.map_or(f64::NAN, |metric| metric.measured),
            id: judged.gate,
            verdict: judged.verdict,
            claim: judged.claim,
            headline: judged.headline,
            margin: judged.margin,
            mutants: judged.mutants,
            receipt: judged.receipt,
        }
    }
}
