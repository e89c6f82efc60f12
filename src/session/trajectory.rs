//! The optimisation trajectory: what was tried, what it cost before and after, and what was kept.

use serde::{Deserialize, Serialize};

use crate::base::{ArtifactId, Hash};

/// Where the time of one stage goes, in microseconds. The parts add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Host calls and launches: what is paid per dispatch, whatever it computes.
    pub dispatch_us: f64,
    /// Buffer objects written and read back.
    pub upload_us: f64,
    /// Kernels at work on the array.
    pub tile_us: f64,
    /// Operators on the host.
    pub host_us: f64,
}

impl Cost {
    pub fn total_us(&self) -> f64 {
        self.dispatch_us + self.upload_us + self.tile_us + self.host_us
    }
}

/// A fact: a program of one stage was timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profiled {
    /// `prefill` (time to the first token) or `decode` (time per token).
    pub stage: String,
    pub kind: StepKind,
    /// What was changed since the step before, in words: `merge attn_norm + q + k`.
    pub change: String,
    pub cost: Cost,
    /// The least time that bytes and FLOPs allow.
    pub floor_us: f64,
    pub dispatches_per_layer: f64,
    /// The relative error that the cost model showed on its calibration rows, in percent.
    pub error_percent: f64,
    pub snapshot: Hash,
    /// The whole profile: timeline and table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ArtifactId>,
    /// The edit that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<ArtifactId>,
    /// The receipt that let it stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Hash>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    /// The naive program, before any change.
    Baseline,
    /// Applied and timed; not yet judged.
    Tried,
    Kept,
    Reverted,
    /// A person said no.
    Rejected,
}

/// One row of the trajectory.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub seq: u64,
    pub profiled: Profiled,
    /// What the stage took before: the last kept step, or itself for the baseline.
    pub before: Cost,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    pub steps: Vec<Step>,
}

impl Trajectory {
    /// Takes in a step; a later word about the step just tried replaces it.
    pub(super) fn apply(&mut self, seq: u64, profiled: &Profiled) {
        let before = self.best(&profiled.stage).map_or(profiled.cost, |step| step.profiled.cost);
        let step = Step { seq, profiled: profiled.clone(), before };
        let open = self.steps.iter().rposition(|step| step.profiled.stage == profiled.stage);
        match open {
            Some(at) if self.steps[at].profiled.kind == StepKind::Tried => self.steps[at] = step,
            _ => self.steps.push(step),
        }
    }

    pub fn stage<'a>(&'a self, stage: &'a str) -> impl Iterator<Item = &'a Step> {
        self.steps.iter().filter(move |step| step.profiled.stage == stage)
    }

    pub fn baseline(&self, stage: &str) -> Option<&Step> {
        let mut steps = self.steps.iter().filter(|step| step.profiled.stage == stage);
        steps.find(|step| step.profiled.kind == StepKind::Baseline)
    }

    /// The last step that stayed: what the stage takes now.
    pub fn best(&self, stage: &str) -> Option<&Step> {
        let stays =
            |step: &&Step| matches!(step.profiled.kind, StepKind::Baseline | StepKind::Kept);
        self.steps.iter().rev().filter(|step| step.profiled.stage == stage).find(stays)
    }
}
