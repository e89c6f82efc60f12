//! Time: what a program is predicted to cost, by category.

mod estimate;
mod flash_attention;
mod gemm;
mod gemv;
mod host;
mod launch;
mod program;
mod rows;
mod upload;
mod vector;

pub use estimate::{Estimate, Gain, estimate, estimate_row, gain};
pub use launch::{launch_us, solo_us};
pub use program::cost;
pub use rows::{Row, predict, read_rows};
