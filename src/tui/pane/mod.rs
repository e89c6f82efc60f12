//! The places of the screen.

mod document;
mod gates;
mod item;
mod list;
mod pane;
mod profile;
mod scroll;
mod trajectory;
mod transcript;

pub(crate) use document::Document;
pub(crate) use gates::Gates;
pub(crate) use pane::Pane;
pub(crate) use profile::Profiles;
pub(crate) use scroll::Scroll;
pub(crate) use trajectory::Steps;
pub(crate) use transcript::Conversation;
