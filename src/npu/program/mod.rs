//! A deployment as data: buffers, then dispatches in order.

mod blocks;
mod buffer;
mod dispatch;
mod format;
mod read;
mod text;

pub use buffer::{Buffer, Dtype, Fill, Layout, Residency, Scope};
pub use dispatch::{Dispatch, HostKind, HostOp, Kernel, Launch, Method, Program, Tile, Work};
pub use text::{ProgramText, format};
