//! What covers the screen and has the keys.

mod approval;
mod help;
mod pager;
mod palette;
mod words;

pub(crate) use approval::{Approval, Asked, Mode};
pub(crate) use help::Help;
pub(crate) use pager::Pager;
pub(crate) use palette::{Palette, Picked};
pub(crate) use words::Words;
