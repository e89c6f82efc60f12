//! One session, alive: decide, append, perform.

mod effect;
mod request;
mod step;
mod update;

mod brought;
mod decide;

mod brief;
mod live;

mod judge;
mod perform;
mod undo;

mod alive;
mod handle;

pub use brief::words;
pub use decide::decide;
pub use effect::Effect;
pub use handle::{Ended, Feed, Handle, Place};
pub use live::{Live, Moved};
pub use request::{Input, Request};
pub use step::Step;
pub use update::Update;
