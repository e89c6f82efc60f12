//! What a run did, counted by the simulator itself: a program cannot write here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    pub prefill: Counts,
    pub decode: Counts,
}

/// Counts of all calls of one stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Runs of the whole program: one for a prompt, one for each token of decode.
    pub calls: usize,
    pub total: Count,
    /// By layer, all calls together.
    pub layers: Vec<Count>,
    /// Where each value was made, by its buffer's name.
    pub made: BTreeMap<String, Made>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Calls of the array.
    pub dispatches: usize,
    /// Kernels inside those calls.
    pub launches: usize,
    pub host_ops: usize,
    /// Host to buffer objects, and back.
    pub bytes_written: u64,
    pub bytes_read: u64,
}

/// Which kernel or host operator made a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    pub place: Place,
    /// `gemm`, `flash-attention`, `attention` …
    pub operator: String,
    /// Whether each layer makes one.
    pub in_layer: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Array,
    Host,
}

impl Counts {
    /// Calls of the array and host operators in one layer of one call.
    pub fn dispatches_per_layer(&self) -> usize {
        let first = self.layers.first().copied().unwrap_or_default();
        (first.dispatches + first.host_ops).checked_div(self.calls).unwrap_or(0)
    }

    pub(super) fn add(&mut self, layer: Option<usize>, each: impl Fn(&mut Count)) {
        each(&mut self.total);
        if let Some(layer) = layer {
            if self.layers.len() <= layer {
                self.layers.resize(layer + 1, Count::default());
            }
            each(&mut self.layers[layer]);
        }
    }
}
