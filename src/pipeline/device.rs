//! The target as the gates use it: fed with given words, and watched value by value.

use std::sync::Arc;

use super::deployment::Deployment;
use crate::model::{Logits, Stage};
use crate::npu::Kernel;
use crate::tensor::{Tap, Tensor};

/// What ran: part of every receipt, and of every name under which a run is kept.
pub(super) const FINGERPRINT: &str = "sim xdna2 1";

const ABSENT: &str = "the simulator is not built yet";

pub(super) struct Device;

impl Device {
    pub(super) fn open(deployment: &Deployment) -> Result<Self, String> {
        let _ = (deployment.program(Stage::Prefill)?, Arc::clone(deployment.model()?));
        Err(ABSENT.into())
    }

    pub(super) fn prefill(
        &mut self,
        _tokens: &[u32],
        _logits: Logits,
        _tap: &mut dyn Tap,
    ) -> Result<Tensor, String> {
        Err(ABSENT.into())
    }

    pub(super) fn step(&mut self, _token: u32, _tap: &mut dyn Tap) -> Result<Vec<f32>, String> {
        Err(ABSENT.into())
    }

    pub(super) fn counters(&self) -> String {
        String::new()
    }
}

/// One kernel alone, its operands in the order of its form.
pub(super) fn run_kernel(_kernel: &Kernel, _inputs: &[&[f32]]) -> Result<Vec<f32>, String> {
    Err(ABSENT.into())
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

pub(super) fn placed(_counters: &str, _stage: Stage) -> Result<Placement, String> {
    Err(ABSENT.into())
}
