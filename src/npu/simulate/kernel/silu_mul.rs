//! SiLU-and-Mul: `up · gate · ½(1 + tanh(gate/2))`, each step floored.
//!
//! Inputs: `gate`, `up`. Output: the product. **tanh is a surrogate** of an undocumented unit.

use super::elementwise::zip;
use crate::npu::simulate::numerics::Tanh;
use crate::tensor::round::bf16_floor;

pub(crate) fn silu_mul(gate: &[f32], up: &[f32]) -> Vec<f32> {
    let sigmoid = Tanh::through(|tanh| bf16_floor(0.5 * bf16_floor(1.0 + tanh)));
    zip(gate, up, |gate, up| bf16_floor(bf16_floor(gate * sigmoid.at(bf16_floor(gate * 0.5))) * up))
}
