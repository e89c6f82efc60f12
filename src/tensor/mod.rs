//! Numbers: dtypes, shapes, reference operators, comparison.

pub mod blocks;
pub mod compare;
mod dtype;
mod matmul;
pub mod ops;
mod rope;
pub mod round;
mod tap;
mod tensor;

pub use compare::{Comparison, Row};
pub use dtype::Dtype;
pub use matmul::{Gemm, matmul, matmul_serial};
pub use rope::Rope;
pub use tap::{NoTap, Tap, Trace};
pub use tensor::Tensor;
