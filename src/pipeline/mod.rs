//! The eight phases, their gates, the evaluator.

mod answer;
mod case;
mod frozen;
mod gate;
mod metric;
mod mutants;
mod phase;
mod receipt;
mod report;

pub mod evaluate;
pub mod gates;
pub mod progress;
pub mod worker;

pub use answer::{Answer, Exhibit};
pub use gate::{Gate, Judgement, gate};
pub use gates::gates;
pub use phase::{DocumentEntry, entries, needs};
pub use receipt::{Receipt, Receipts};
pub use worker::GateRequest;
