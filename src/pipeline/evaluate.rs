//! The independent evaluator: the only maker of verdicts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::answer::Answer;
use super::case::Case;
use super::gate::{Gate, Judgement};
use super::mutants;
use super::receipt::Receipt;
use super::report;
use crate::base::{GateId, Hash};
use crate::session::{Judged, MutantJudged, Phase, Verdict};

/// One line of the evaluator's process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", content = "with", rename_all = "lowercase")]
pub enum Line {
    /// What it is at: a draft.
    Said(String),
    Judged(Box<Answer>),
    /// It could not begin: the workspace or the model cannot be read.
    Refused(String),
    /// The last line of a whole run. Without it the run did not end well.
    Ended,
}

#[derive(Debug, Error)]
pub enum Unreadable {
    #[error("the evaluator's process said something that is no answer: {0}")]
    NotALine(#[from] serde_json::Error),
    #[error("the answer for `{0}` contradicts its own receipt")]
    Contradicts(GateId),
}

/// Reads one line of the child's output. Together with [`not_run`] the only way to a `Judged`.
pub fn read(line: &[u8]) -> Result<Line, Unreadable> {
    let line: Line = serde_json::from_slice(line)?;
    if let Line::Judged(answer) = &line {
        let Answer { judged, receipt, .. } = &**answer;
        let agrees = judged.gate == receipt.gate
            && judged.verdict == receipt.verdict
            && judged.snapshot == receipt.snapshot
            && judged.phase == receipt.phase;
        if !agrees {
            return Err(Unreadable::Contradicts(judged.gate.clone()));
        }
    }
    Ok(line)
}

/// Judges one gate, its mutants first.
pub(super) fn evaluate(gate: &Gate, case: &Case) -> Answer {
    conclude(gate, case, (gate.judge)(case))
}

/// Makes a verdict of what a gate found.
pub(super) fn conclude(gate: &Gate, case: &Case, judgement: Judgement) -> Answer {
    let trial = mutants::prove(gate, case, &judgement);
    let verdict = verdict(&judgement, &trial);
    let mut headline = judgement.headline.clone();
    if let (Verdict::Blocked, None, Some(alive)) =
        (verdict, &judgement.blocked, trial.alive.as_ref())
    {
        headline = format!("the gate does not see the fault `{alive}`: its pass proves nothing");
    }
    if verdict == Verdict::Pass && case.is_synthetic() {
        headline = format!("{} · {headline}", report::SYNTHETIC);
    }
    let mut notes: BTreeMap<String, String> =
        judgement.notes.iter().map(|(key, text)| ((*key).into(), text.clone())).collect();
    for (metric, value) in case.overrides(gate.id) {
        notes.insert(format!("override {metric}"), format!("{value}, set by a person"));
    }
    let receipt = Receipt {
        v: 1,
        gate: GateId::from(gate.id),
        version: gate.version,
        phase: case.phase(),
        verdict,
        headline,
        snapshot: case.snapshot().clone(),
        inputs: gate.inputs(&case.sources().frozen),
        oracle: case.oracle_hash(),
        workload: case.workload_hash(),
        seed: case.seed(),
        target: case.target_fingerprint(),
        provenance: case.provenance(),
        metrics: judgement.metrics.clone(),
        mutants: trial.shown.into_iter().map(mutant).collect(),
        mutants_note: trial.note,
        notes,
        cases: judgement.cases,
        prev: Hash::default(),
    };
    let judged = judged(&receipt, gate.claim, &judgement);
    let report = report::gate(gate, &receipt, &judgement);
    Answer { judged, receipt, report, exhibits: judgement.exhibits, duration_ms: 0 }
}

fn mutant(shown: mutants::Shown) -> MutantJudged {
    let mutants::Shown { id, killed, by, margin } = shown;
    MutantJudged { id, killed, by, margin }
}

fn verdict(judgement: &Judgement, trial: &mutants::Trial) -> Verdict {
    let margin = judgement.margin();
    if judgement.blocked.is_some() {
        Verdict::Blocked
    } else if margin.is_nan() || margin < 0.0 {
        Verdict::Fail
    } else if trial.alive.is_some() {
        Verdict::Blocked
    } else {
        Verdict::Pass
    }
}

fn judged(receipt: &Receipt, claim: &str, judgement: &Judgement) -> Judged {
    Judged {
        gate: receipt.gate.clone(),
        phase: receipt.phase,
        verdict: receipt.verdict,
        snapshot: receipt.snapshot.clone(),
        inputs: receipt.inputs.clone(),
        claim: claim.into(),
        headline: receipt.headline.clone(),
        margin: judgement.margin(),
        metrics: receipt.metrics.clone(),
        mutants: receipt.mutants.clone(),
        receipt: Hash::default(),
        evidence: judgement.exhibits.iter().map(super::answer::Exhibit::artifact).collect(),
    }
}

/// What is known of a gate whose process died, hung or could not start: it did not pass.
pub fn not_run(gate: &GateId, phase: Phase, snapshot: &Hash, why: &str) -> Answer {
    let claim = super::gate::gate(gate.as_str()).map_or("", |gate| gate.claim);
    let judgement = Judgement::failed(format!("not judged: {why}"));
    let receipt = Receipt {
        v: 1,
        gate: gate.clone(),
        version: 0,
        phase,
        verdict: Verdict::Fail,
        headline: judgement.headline.clone(),
        snapshot: snapshot.clone(),
        inputs: Hash::default(),
        oracle: Hash::default(),
        workload: Hash::default(),
        seed: 0,
        target: "not reached".into(),
        provenance: String::new(),
        metrics: Vec::new(),
        mutants: Vec::new(),
        mutants_note: String::new(),
        notes: BTreeMap::new(),
        cases: 0,
        prev: Hash::default(),
    };
    let judged = judged(&receipt, claim, &judgement);
    let report = format!("# Gate `{gate}`: Fail\n\n{}\n", judgement.headline);
    Answer { judged, receipt, report, exhibits: Vec::new(), duration_ms: 0 }
}

/// Takes a second opinion in: it can only lower a verdict.
pub fn lower(mut judged: Judged, to: Verdict, why: &str) -> Judged {
    let rank = |verdict| match verdict {
        Verdict::Pass => 2,
        Verdict::Blocked => 1,
        Verdict::Fail => 0,
    };
    if rank(to) < rank(judged.verdict) {
        judged.verdict = to;
        judged.headline = format!("{why} · before: {}", judged.headline);
    }
    judged
}
