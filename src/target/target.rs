//! The seam: a snapshot of the workspace is checked, and run on a workload.

use serde::Serialize;
use thiserror::Error;

use crate::base::{Finding, Progress, Stop};
use crate::model::Workload;
use crate::npu::{Counters, Profile};
use crate::tensor::Trace;
use crate::workspace::Snapshot;

/// A place where a deployment runs.
pub trait Target: Send + Sync {
    /// What a run depends on beside the snapshot: versions and calibration. Part of each receipt.
    fn fingerprint(&self) -> String;

    /// What is wrong with the snapshot, or missing on this machine, before anything runs.
    fn check(&self, snapshot: &Snapshot) -> Vec<Finding>;

    /// Runs the prompt and as many tokens as the workload asks for, chosen greedily.
    ///
    /// `wanted` are patterns of value names (`layers.*.hidden`); what is not wanted is not kept.
    fn run(
        &self,
        snapshot: &Snapshot,
        workload: &Workload,
        wanted: &[&str],
        progress: &Progress,
        stop: &Stop,
    ) -> Result<Run, TargetError>;
}

/// What a run brings back.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Rows of the prompt, then a row for each token of decode.
    #[serde(skip)]
    pub trace: Trace,
    /// Prefill, then decode at the context where it ended, if there was any.
    pub profiles: Vec<Profile>,
    /// `None` where the target does not count.
    pub counters: Option<Counters>,
    pub tokens: Vec<u32>,
}

#[derive(Debug, Error)]
pub enum TargetError {
    /// The snapshot cannot run here.
    #[error("{}", findings.first().map_or_else(|| "it cannot run".to_owned(), |f| f.message.clone()))]
    Refused { findings: Vec<Finding> },
    /// This target can be checked, but it does not run yet.
    #[error("target `{target}` does not run deployments: {why}")]
    Absent { target: &'static str, why: String },
    #[error("stopped")]
    Stopped,
}

impl TargetError {
    pub fn findings(&self) -> Vec<Finding> {
        match self {
            Self::Refused { findings } => findings.clone(),
            Self::Absent { .. } => vec![Finding::error("", self.to_string()).hint("use `sim`")],
            Self::Stopped => vec![Finding::note("", "stopped")],
        }
    }
}
