//! The face for a person: turns keys into requests and state into cells.

mod action;
mod colour;
mod key;
mod keymap;
mod slot;
mod theme;

pub use action::Action;
pub use colour::Depth;
pub use key::Key;
pub use keymap::{Context, Keymap, Match};
pub use slot::Slot;
pub use theme::Theme;
