//! How long one stage takes, before and after, and the least that it can take.

use crate::model::Stage;
use crate::pipeline::fault::Fault;

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
    pub dispatches_per_layer: usize,
    /// Stage, model, layers, sequence and capacity: what was timed.
    pub workload: String,
}

impl Times {
    pub fn faulted(&self, fault: Fault) -> Option<Self> {
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
