//! The face for a person: turns keys into requests and state into cells.

mod action;
mod choice;
mod colour;
mod error;
mod key;
mod keymap;
mod run;
mod setup;
mod slot;
mod theme;
mod widget;

pub use action::Action;
pub use choice::{Choice, Shelf};
pub use colour::Depth;
pub use error::TuiError;
pub use key::Key;
pub use keymap::{Context, Keymap, Match};
pub use run::{browse, replay, run};
pub use setup::Setup;
pub use slot::Slot;
pub use theme::Theme;
