//! Every way in.

mod error;
mod output;
mod places;

mod args;
mod start;

mod face;
mod facts;
mod sample;
mod summary;
mod which;

mod deploy;
mod fork;
mod judge;
mod replay;
mod resume;
mod status;

pub use start::main;
