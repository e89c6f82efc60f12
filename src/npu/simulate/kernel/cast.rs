//! Cast of f32 to bf16, floored: no rounding mode is set in this launch.
//!
//! Input: `x` in f32. Output: `y` in bf16.

use super::elementwise::map;
use crate::tensor::round::bf16_floor;

pub(crate) fn cast(x: &[f32]) -> Vec<f32> {
    map(x, bf16_floor)
}
