//! What draws and knows nothing of sessions: text, Markdown, tables, bars, changes.

mod bar;
mod change;
mod editor;
mod frame;
mod markdown;
mod markdown_table;
mod rank;
mod text;
mod wrap;

pub(crate) use bar::{Part, Shape, meter, stacked};
pub(crate) use change::Change;
pub(crate) use editor::Editor;
pub(crate) use frame::{boxed, fill, rule, scrollbar, scrub};
pub(crate) use markdown::{Page, render};
pub(crate) use rank::rank;
pub(crate) use text::{
    cut, elapsed, lines, micros, one_line, pad_left, pad_right, put, span, width,
};
pub(crate) use wrap::{Prefix, wrap};
