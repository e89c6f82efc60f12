//! One session, alive: decide, append, perform.

mod request;
mod update;

pub use request::{Input, Request};
pub use update::Update;
