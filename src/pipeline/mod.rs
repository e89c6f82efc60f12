//! The eight phases, their gates, the evaluator.

mod alter;
mod answer;
mod cache;
mod case;
mod companion;
mod deployment;
mod device;
mod evidence;
mod exceptions;
mod fault;
mod frozen;
mod gate;
mod judge;
mod metric;
mod mutants;
mod phase;
mod probe;
mod prompts;
mod receipt;
mod replace;
mod report;
mod rounding;
mod sources;

pub mod evaluate;
pub mod gates;
pub mod progress;
pub mod worker;

pub use answer::{Answer, Exhibit};
pub use deployment::{open_model, outline};
pub use evidence::DECODE_CONTEXT;
pub use exceptions::{Exception, exception, exceptions};
pub use gate::{Gate, Judgement, gate};
pub use gates::gates;
pub use judge::{Evaluation, judge_workspace};
pub use phase::{DocumentEntry, entries, needs};
pub use receipt::{Receipt, Receipts};
pub use worker::GateRequest;
