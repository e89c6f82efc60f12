//! How long one stage takes, before and after, and the least that it can take.

use crate::model::Stage;
use crate::npu::{Array, CALIBRATION_ERROR_PCT, Program, cost, floor};
use crate::pipeline::deployment::outline;
use crate::pipeline::fault::Fault;
use crate::pipeline::sources::Sources;

/// The tokens that a decode call attends to when it is timed: about where published figures were.
pub const DECODE_CONTEXT: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub(in crate::pipeline) struct Times {
    pub stage: Stage,
    pub baseline: Timed,
    pub present: Timed,
    /// The least time that bytes and operations of the model allow.
    pub floor_us: f64,
    /// The error that the cost model showed on its calibration rows.
    pub error_percent: f64,
}

/// One program, timed.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::pipeline) struct Timed {
    pub time_us: f64,
    /// Its four parts: `dispatch`, `upload`, `tile`, `host`.
    pub parts: [(&'static str, f64); 4],
    pub dispatches_per_layer: usize,
    /// Stage, model, layers, sequence and capacity: what was timed.
    pub workload: String,
}

impl Times {
    /// The baseline is the faster of the one on disk and of what lowering makes by rule, so that
    /// nobody gains by a slow one.
    pub(in crate::pipeline) fn of(sources: &Sources, stage: Stage) -> Result<Self, String> {
        let deployment = &sources.deployment;
        let model = deployment.model()?;
        let timed = |program: &Program| Timed::of(program, &deployment.array);
        let present = timed(deployment.program(stage)?);
        let (kept, naive) = (timed(deployment.baseline(stage)?), timed(&deployment.naive(stage)?));
        let baseline = if naive.time_us < kept.time_us && naive.workload == kept.workload {
            naive
        } else {
            kept
        };
        let tokens = match stage {
            Stage::Prefill => deployment.settings.seq,
            Stage::Decode => DECODE_CONTEXT,
        };
        let floor_us = floor(&outline(model), &deployment.array, stage, tokens).total_us();
        Ok(Self { stage, baseline, present, floor_us, error_percent: CALIBRATION_ERROR_PCT })
    }

    pub(in crate::pipeline) fn faulted(&self, fault: Fault) -> Option<Self> {
        let mut faulted = self.clone();
        match fault {
            Fault::Equal => faulted.present.time_us = self.baseline.time_us,
            Fault::Slower => faulted.present.time_us = self.baseline.time_us * 1.05,
            Fault::BelowFloor => faulted.present.time_us = self.floor_us * 0.9,
            Fault::OtherWorkload => faulted.present.workload.push_str(" of another length"),
            _ => return None,
        }
        Some(faulted)
    }
}

impl Timed {
    fn of(program: &Program, array: &Array) -> Self {
        let context = match program.stage {
            Stage::Prefill => program.seq,
            Stage::Decode => DECODE_CONTEXT,
        };
        let Program { stage, layers, seq, capacity, .. } = program;
        let cost = cost(program, array, context).cost;
        Self {
            time_us: cost.total(),
            parts: cost.categories(),
            dispatches_per_layer: program.dispatches_per_layer(),
            workload: format!("{stage}, {layers} layers, {seq} of {capacity} tokens, at {context}"),
        }
    }
}
