//! One session, alive: decide, append, perform.

mod effect;
mod handle;
mod request;
mod update;

pub use effect::Effect;
pub use handle::{Ended, Feed, Handle, Place};
pub use request::{Input, Request};
pub use update::Update;
