//! Lowering: from a network to a naive program, by rule.

mod build;
mod layer;
mod lower;
mod outline;
mod published;
mod tiling;

pub use lower::lower;
pub use outline::Outline;
pub(super) use tiling::{
    Tiling, gemm_tilings, gemv, gemv_tilings, nearest, row_herd, vector, vector_tilings,
};
