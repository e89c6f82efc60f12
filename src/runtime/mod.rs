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
mod watching;

mod error;
mod mind;
mod open;
mod world;

mod branch;
mod headless;
mod known;
mod standing;

pub use branch::{Branch, branch};
pub use brief::words;
pub use decide::decide;
pub use effect::Effect;
pub use error::OpenError;
pub use handle::{Ended, Feed, Handle, Place};
pub use headless::{Cut, Outcome, headless};
pub use known::known;
pub use live::{Live, Moved};
pub use open::{Opened, create, resume};
pub use request::{Input, Request};
pub use standing::always;
pub use step::Step;
pub use update::Update;
pub use world::World;
