//! Element-wise sum, floored.
//!
//! Inputs: `a`, `b`. Output: `a + b`.

use super::elementwise::zip;
use crate::tensor::round::bf16_floor;

pub(crate) fn add(a: &[f32], b: &[f32]) -> Vec<f32> {
    zip(a, b, |a, b| bf16_floor(a + b))
}
