//! What was measured: activations, kernels alone, words chosen, times.

mod activations;
mod choices;
mod kernels;
mod runs;
mod times;

pub(super) use activations::{Activations, Score, median};
pub(super) use choices::{Outcome, Spoken};
pub(super) use kernels::{Alone, harness, kernels as kernels_of, name as kernel_name};
pub(super) use runs::{companion_noise, has_sinks, spoken, told, traced};
pub use times::DECODE_CONTEXT;
pub(super) use times::Times;
