//! What the evaluator's process answers: a verdict, its receipt, its report and its evidence.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::receipt::{Receipt, Receipts};
use super::replace::replace;
use crate::base::ArtifactId;
use crate::base::Hash;
use crate::session::{Artifact, Judged};

/// One judgement with all that backs it. `judged.receipt` is empty until it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub judged: Judged,
    pub receipt: Receipt,
    /// The text of `reports/<gate>.md`, without the receipt's line.
    pub report: String,
    /// What `judged.evidence` names, in the same order.
    #[serde(default)]
    pub exhibits: Vec<Exhibit>,
    /// Wall time. Never part of a receipt: the same judgement gives the same receipt.
    pub duration_ms: u64,
}

/// A piece of evidence: curves and worst elements as JSON, or a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exhibit {
    pub kind: String,
    pub headline: String,
    pub content: String,
}

impl Exhibit {
    pub fn new(
        kind: impl Into<String>,
        headline: impl Into<String>,
        content: impl Into<String>,
    ) -> Self {
        Self { kind: kind.into(), headline: headline.into(), content: content.into() }
    }

    pub fn artifact(&self) -> Artifact {
        let hash = ArtifactId::from(Hash::of(self.content.as_bytes()).as_str());
        Artifact { kind: self.kind.clone(), hash, headline: self.headline.clone() }
    }
}

impl Answer {
    /// Links the receipt into the chain of the workspace and writes the report beside it. Asked
    /// twice for the same judgement it changes nothing: a crash in between costs nothing.
    pub fn keep(self, workspace: &Path) -> io::Result<Judged> {
        let receipts = Receipts::at(workspace);
        let Self { mut judged, receipt, report, .. } = self;
        judged.receipt = receipts.append(receipt)?;
        let text = format!("{report}\nReceipt: `{}`\n", judged.receipt);
        let reports = workspace.join("reports");
        fs::create_dir_all(&reports)?;
        let name = match judged.gate.as_str() {
            "evaluator" => "evaluation_report",
            gate => gate,
        };
        replace(&reports.join(format!("{name}.md")), text.as_bytes())?;
        Ok(judged)
    }
}
