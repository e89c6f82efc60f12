//! The device: program, legality checks, simulator, costs, floors, moves, search.

mod array;
pub mod calibrate;
mod check;
mod class;
mod cost;
mod floor;
mod kernel;
mod lower;
pub mod moves;
mod profile;
mod program;
mod search;
mod simulate;
mod structure;

pub use array::{Array, CALIBRATION_ERROR_PCT};
pub use check::{check, refusal};
pub use class::{Class, Classes};
pub use cost::{
    Estimate, Gain, Row, cost, estimate, estimate_row, gain, launch_us, predict, read_rows, solo_us,
};
pub use floor::{Floor, floor};
pub use kernel::{Band, Fit, Form, Operand, Operands};
pub use lower::{Outline, lower};
pub use profile::{Cost, DispatchTime, KernelTime, Profile};
pub use program::{
    Buffer, Dispatch, Dtype, Fill, HostKind, HostOp, Kernel, Launch, Layout, Method, Program,
    ProgramText, Residency, Scope, Tile, Work, format,
};
pub use search::{Suggestion, effect, suggest};
pub use simulate::{
    Count, Counters, Counts, Machine, Made, Place, SimulateError, Statistics, Trial, run_kernel,
    run_unchecked,
};
pub use structure::structured;
