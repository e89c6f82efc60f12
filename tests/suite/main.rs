//! The one integration-test binary: linked once, so that two cores are enough.
#![allow(unreachable_pub, reason = "a binary has no outside")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that fails says so by ending"
)]

mod architecture;
mod bands;
mod buffers;
mod calibrate;
mod child;
mod cli;
mod denied;
mod device_tools;
mod fetch;
mod gates;
mod kill;
mod mind;
mod need;
mod oracle;
mod predict;
mod program;
mod properties;
mod readme;
mod residual;
mod room;
mod rounding;
mod runtime;
mod screens;
mod session;
mod simulate;
mod term;
mod terminal;
mod tools;
mod trajectory;
mod workspace;
