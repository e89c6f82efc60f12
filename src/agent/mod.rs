//! Minds that choose the next call.

mod driver;

pub use driver::{Driver, Outcomes, Prompt, Reply, ReplyStream};
