//! What was measured: activations, kernels alone, words chosen, times. Faults edit it, gates read it.

mod activations;
mod choices;
mod kernels;
mod runs;
mod times;

pub(super) use activations::{Activations, Score, median};
pub(super) use choices::{Outcome, Spoken};
pub(super) use kernels::{Alone, harness};
pub(super) use runs::{answered, companion_noise, spoken, told, traced};
pub(super) use times::{Timed, Times};
