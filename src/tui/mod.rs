//! The face for a person: turns keys into requests and state into cells.

mod action;
mod app;
mod choice;
mod colour;
mod composer;
mod effect;
mod error;
mod key;
mod keymap;
mod load;
mod overlay;
mod pane;
mod press;
mod proposal;
mod recording;
mod run;
mod screen;
mod setup;
mod slot;
mod terminal;
mod theme;
mod view;
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
