//! A verdict on a snapshot. Everyone may read one; only the pipeline's evaluator makes one.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::artifact::Artifact;
use super::call::ToolOutcome;
use super::phase::Phase;
use crate::base::{GateId, Hash};

/// There is no fourth: a metric under its threshold is a fail, and what did not run did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Pass,
    Fail,
    Blocked,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "Pass",
            Self::Fail => "Fail",
            Self::Blocked => "Blocked",
        })
    }
}

/// One number that a gate looked at. Margin: how far the claim holds beyond the threshold, in
/// units of the threshold's own scale; below zero, or not a number, it does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    pub name: String,
    #[serde(deserialize_with = "number")]
    pub measured: f64,
    /// As people write it: `>= 0.98`.
    pub threshold: String,
    #[serde(deserialize_with = "number")]
    pub margin: f64,
    /// Judged, or only recorded.
    pub hard: bool,
}

impl Metric {
    /// Whether the claim holds. A margin that is not a number says that it does not.
    pub fn holds(&self) -> bool {
        self.margin >= 0.0
    }
}

/// A seeded fault that the gate was shown before its pass could count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MutantJudged {
    pub id: String,
    /// `None`: not applicable, for the reason in `by`.
    pub killed: Option<bool>,
    /// The metric that killed it.
    pub by: String,
    #[serde(deserialize_with = "number")]
    pub margin: f64,
}

/// JSON has no word for a number that is none; it writes `null`.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    pub gate: GateId,
    /// For which phase: the same gate asks more of a later one.
    #[serde(default)]
    pub phase: Phase,
    pub verdict: Verdict,
    pub snapshot: Hash,
    /// The hash of those files of the snapshot that this gate looks at: while they stay, so does
    /// the verdict.
    #[serde(default)]
    pub inputs: Hash,
    pub claim: String,
    /// The one line that says why.
    pub headline: String,
    /// The smallest margin of the hard metrics.
    #[serde(deserialize_with = "number")]
    pub margin: f64,
    pub metrics: Vec<Metric>,
    pub mutants: Vec<MutantJudged>,
    /// The receipt, at `.pilotfish/receipts/<hash>.json`.
    pub receipt: Hash,
    #[serde(default)]
    pub evidence: Vec<Artifact>,
}

impl Judged {
    pub fn passed(&self) -> bool {
        self.verdict == Verdict::Pass
    }

    pub fn failed(&self) -> bool {
        self.verdict == Verdict::Fail
    }

    /// What the mind that asked for it is told. A failed gate is a call that was well done.
    pub fn outcome(&self) -> ToolOutcome {
        let text = format!("{}: {} · {}", self.gate, self.verdict, self.headline);
        let value = serde_json::json!({
            "gate": self.gate,
            "verdict": self.verdict,
            "margin": self.margin,
            "headline": self.headline,
            "receipt": self.receipt,
            "snapshot": self.snapshot,
            "metrics": self.metrics,
        });
        ToolOutcome::Done { text, value, artifacts: self.evidence.clone() }
    }
}
