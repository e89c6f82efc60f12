//! Floors: what no program for this network can go below, whatever it does.

use serde::{Deserialize, Serialize};

use crate::model::Stage;

use super::array::Array;
use super::lower::Outline;

/// The lower bound of one call, from bytes and operations alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    pub flops: f64,
    /// Weights, and the cache that attention reads.
    pub bytes: f64,
    pub compute_us: f64,
    pub memory_us: f64,
}

impl Floor {
    pub fn total_us(&self) -> f64 {
        self.compute_us.max(self.memory_us)
    }
}

/// Floor of a prefill of `tokens`, or of one decode call that attends to `tokens`.
///
/// Every weight is read once as bf16 at the speed of the memory itself, every multiply-add is done
/// at the issue peak of all tiles, both at the same time.
pub fn floor(outline: &Outline, array: &Array, stage: Stage, tokens: usize) -> Floor {
    let f = |n: usize| n as f64;
    let (hidden, wide) = (f(outline.hidden), f(outline.intermediate));
    let (q, kv) = (f(outline.query_width()), f(outline.kv_width()));
    let layer = hidden * (2.0 * q + 2.0 * kv) + 3.0 * hidden * wide;
    let weights = f(outline.layers) * layer;
    let head = hidden * f(outline.vocab);
    let (rows, pairs) = match stage {
        Stage::Prefill => (f(tokens), f(tokens) * (f(tokens) + 1.0) / 2.0),
        Stage::Decode => (1.0, f(tokens)),
    };
    let attention = f(outline.layers) * 4.0 * q * pairs;
    // The head is needed for one position only.
    let flops = 2.0 * weights * rows + 2.0 * head + attention;
    let cache = match stage {
        Stage::Prefill => 0.0,
        Stage::Decode => f(outline.layers) * 2.0 * kv * f(tokens) * 2.0,
    };
    let bytes = (weights + head) * 2.0 + cache;
    let peak =
        f(array.tiles()) * array.peak.macs_per_cycle * 2.0 * array.coefficients.cycles_per_us;
    Floor { flops, bytes, compute_us: flops / peak, memory_us: bytes / (array.peak.ddr * 1e3) }
}
