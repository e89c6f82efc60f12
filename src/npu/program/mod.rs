//! A deployment as data: buffers, then dispatches in order.

mod buffer;
mod dispatch;

pub use buffer::{Buffer, Dtype, Fill, Layout, Residency, Scope};
pub use dispatch::{Dispatch, HostKind, HostOp, Kernel, Launch, Method, Program, Tile, Work};
