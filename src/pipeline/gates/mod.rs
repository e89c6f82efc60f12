//! Every gate, by the phase that asks for it first.

mod all;

pub use all::gates;
