//! The network to deploy, and its FP32 oracle.

mod stage;

pub use stage::Stage;
