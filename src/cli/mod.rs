//! Every way in.

mod error;
mod exit;
mod output;
mod places;

mod args;
mod shape;
mod start;

mod face;
mod facts;
mod hub;
mod sample;
mod shelf;
mod summary;
mod which;

mod browse;
mod completions;
mod deploy;
mod fmt;
mod fork;
mod gate;
mod home;
mod judge;
mod model;
mod model_fetch;
mod npu;
mod npu_calibrate;
mod npu_cost;
mod npu_floor;
mod npu_numerics;
mod npu_predict;
mod npu_program;
mod npu_simulate;
mod npu_whole;
mod oracle;
mod replay;
mod resume;
mod schema;
mod skills;
mod status;

pub use start::main;
