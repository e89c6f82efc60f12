//! Where a program runs: simulator, compiler checkout, declared commands.

mod command;
mod mlir_air;
mod sim;
mod target;

pub use command::Command;
pub use mlir_air::MlirAir;
pub use sim::Sim;
pub use target::{Run, Target, TargetError};
