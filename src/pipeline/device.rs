//! The target as the gates use it: fed with given words, and watched value by value.

use std::sync::Arc;

use super::deployment::Deployment;
use crate::model::{Logits, Stage};
use crate::npu::{Counters, Kernel, Machine, Place, SimulateError};
use crate::tensor::{Tap, Tensor};

/// What ran: part of every receipt, and of every name under which a run is kept.
pub(super) const FINGERPRINT: &str = "sim xdna2 1";

pub(super) struct Device(Machine);

impl Device {
    /// With the programs of both stages on it, or the reason why they cannot run.
    pub(super) fn open(deployment: &Deployment) -> Result<Self, String> {
        let prefill = deployment.program(Stage::Prefill)?;
        let decode = deployment.program(Stage::Decode)?;
        let model = Arc::clone(deployment.model()?);
        let machine = Machine::new(prefill, Some(decode), model, &deployment.array);
        machine.map(Self).map_err(|error| words(&error))
    }

    pub(super) fn prefill(
        &mut self,
        tokens: &[u32],
        logits: Logits,
        tap: &mut dyn Tap,
    ) -> Result<Tensor, String> {
        self.0.prefill(tokens, logits, tap).map_err(|error| words(&error))
    }

    pub(super) fn step(&mut self, token: u32, tap: &mut dyn Tap) -> Result<Vec<f32>, String> {
        self.0.step(token, tap).map_err(|error| words(&error))
    }

    pub(super) fn counters(&self) -> String {
        serde_json::to_string(self.0.counters()).unwrap_or_default()
    }
}

fn words(error: &SimulateError) -> String {
    format!("the target refuses: {error}")
}

/// One kernel alone, its operands in the order of its form.
pub(super) fn run_kernel(kernel: &Kernel, inputs: &[&[f32]]) -> Result<Vec<f32>, String> {
    crate::npu::run_kernel(kernel, inputs).map_err(|error| words(&error))
}

/// Where one value was made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    pub value: String,
    pub operator: String,
    pub on_host: bool,
}

/// What the counters of a run say of one stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Placement {
    pub made: Vec<Placed>,
    pub dispatches_per_layer: usize,
}

pub(super) fn placed(counters: &str, stage: Stage) -> Result<Placement, String> {
    let counters: Counters = serde_json::from_str(counters)
        .map_err(|error| format!("the target counted nothing: {error}"))?;
    let counts = match stage {
        Stage::Prefill => &counters.prefill,
        Stage::Decode => &counters.decode,
    };
    let made = counts.made.iter().map(|(value, made)| Placed {
        value: value.clone(),
        operator: made.operator.clone(),
        on_host: made.place == Place::Host,
    });
    let dispatches_per_layer = counts.dispatches_per_layer();
    Ok(Placement { made: made.collect(), dispatches_per_layer })
}
