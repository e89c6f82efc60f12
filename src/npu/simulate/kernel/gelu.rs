//! GELU by tanh: `½x(1 + tanh(√(2/π)(x + 0.044715x³)))`, each step floored.
//!
//! Input: `x`. Output: `gelu(x)`. **tanh is a surrogate** of an undocumented unit.

use super::elementwise::map;
use crate::npu::simulate::numerics::Tanh;
use crate::tensor::round::{bf16_floor, bf16_rne};

pub(crate) fn gelu(x: &[f32]) -> Vec<f32> {
    let (cubic, scale) = (bf16_rne(0.044_715), bf16_rne(std::f32::consts::FRAC_2_PI.sqrt()));
    let one_plus = Tanh::through(|tanh| bf16_floor(1.0 + tanh));
    map(x, |x| {
        let cube = bf16_floor(x * bf16_floor(x * x));
        let inner = bf16_floor(x + bf16_floor(cubic * cube));
        bf16_floor(bf16_floor(0.5 * x) * one_plus.at(bf16_floor(scale * inner)))
    })
}
