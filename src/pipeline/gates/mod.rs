//! Every gate, by the phase that asks for it first.

mod block;
mod documents;
mod evaluation;
mod integration;
mod kernels;
mod model;
mod optimisation;
mod placement;
mod reference;
mod table;

pub(super) use evaluation::evaluation;
pub use table::gates;
