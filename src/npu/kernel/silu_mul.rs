//! SiLU-and-Mul: the gate through x·sigmoid(x), times the other branch.
//!
//! - **Herd** 8 × 1; three streams, so at most 8 tiles (M, rule M of `kernels.toml`).
//! - **L1** `3 · 2 · tile_n · 2 bytes + stack ≤ 65536` (I, `legality.md`): 4096 is deployed, 8192
//!   does not fit (M).
//! - **Limits**: `elements % (tile_n · tiles) = 0`, `tile_n % 16 = 0` (S). Steps of 1024 and 2048 were
//!   reported to run out of descriptors (rule U), larger chains were timed: it warns.
//! - **Rounding**: `½(1 + tanh(x/2))` and every other step floored to bf16 (I, `numerics.md` §3).
//!   **tanh is a surrogate**: the value at the middle of cells 1/16 wide.
//! - **Errors**: rtol 1.6e-2, atol 8e-2 (S); mean_rel_L1 1.024e-2 (M), simulated 1.195e-2, with an
//!   exact tanh it would be 5.05e-3; the band is ±25 %.
//! - **Bound** by memory, 22 to 25 GB/s (M). **Costs** 3.529 cycles an element of a core (I,
//!   `arch.toml`).

use super::form::{Band, Form, Operand, Operands, TANH};

pub(super) const FORM: Form = Form {
    name: "silu-mul",
    aliases: &["SiLUMul", "silu", "swiglu"],
    computes: "y = gate · sigmoid(gate) · up",
    inputs: &["gate", "up"],
    outputs: &["y"],
    sizes: &["elements"],
    published: &[4_194_304],
    tile: "n: elements a step",
    streams: 3,
    rtol: 1.6e-2,
    atol: 8e-2,
    mean_rel_l1: Some(1.0e-2),
    band: Band::TwoSided(25.0),
    surrogate: Some(TANH),
};

pub(super) fn operands(elements: usize) -> Operands {
    Operands {
        inputs: vec![Operand::bf16("gate", elements), Operand::bf16("up", elements)],
        outputs: vec![Operand::bf16("y", elements)],
    }
}
