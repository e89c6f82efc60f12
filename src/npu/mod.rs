//! The device: program, legality checks, simulator, costs, floors, moves, search.

mod program;

pub use program::{
    Buffer, Dispatch, Dtype, Fill, HostKind, HostOp, Kernel, Launch, Layout, Method, Program,
    Residency, Scope, Tile, Work,
};
