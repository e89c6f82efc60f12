//! One session, alive: decide, append, perform.

mod brought;
mod decide;
mod effect;
mod handle;
mod request;
mod step;
mod update;

pub use decide::decide;
pub use effect::Effect;
pub use handle::{Ended, Feed, Handle, Place};
pub use request::{Input, Request};
pub use step::Step;
pub use update::Update;
