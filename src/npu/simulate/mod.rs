//! What a deployment computes: the numbers of the array, and buffer objects that can be wrong.

mod alone;
mod axis;
mod cache;
mod call;
mod content;
mod counters;
mod damage;
mod error;
mod exact;
mod fill;
mod harness;
mod host;
mod kernel;
mod launch;
mod machine;
mod memory;
mod numerics;
mod plan;
mod shape;
mod statistics;

pub use alone::{run_kernel, run_unchecked};
pub use counters::{Count, Counters, Counts, Made, Place};
pub use error::SimulateError;
pub use machine::Machine;
pub use statistics::{Statistics, Trial};
