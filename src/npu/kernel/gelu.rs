//! GELU in its tanh form.
//!
//! - **Herd** 8 × 2: two streams, so up to 16 tiles (M, rule M of `kernels.toml`).
//! - **L1** `2 · 2 · tile_n · 2 bytes + stack ≤ 65536` (I, `legality.md`); 6144 is the largest that
//!   was run (M), 4096 is deployed (S).
//! - **Limits**: `elements % (tile_n · tiles) = 0`, `tile_n % 16 = 0` (S).
//! - **Rounding**: every step is floored to bf16 (I, `numerics.md` §3). **tanh is a surrogate**: the
//!   value at the middle of cells 1/16 wide, somewhat worse than the unknown unit.
//! - **Errors**: rtol 1.6e-2, atol 5e-2 (S); mean_rel_L1 8.41e-3 (M), simulated 9.6e-3, with an
//!   exact tanh it would be 6.8e-3; the band is ±25 %.
//! - **Bound** by memory, 24 to 27 GB/s (M). **Costs** 4.087 cycles an element of a core (I,
//!   `arch.toml`).

use super::form::{Band, Form, Operand, Operands, TANH};

pub(super) const FORM: Form = Form {
    name: "gelu",
    aliases: &["GELU"],
    computes: "y = x / 2 · (1 + tanh(sqrt(2/π) · (x + 0.044715 x³)))",
    inputs: &["x"],
    outputs: &["y"],
    sizes: &["elements"],
    published: &[3_145_728],
    tile: "n: elements a step",
    streams: 2,
    rtol: 1.6e-2,
    atol: 5e-2,
    mean_rel_l1: Some(8.4e-3),
    band: Band::TwoSided(25.0),
    surrogate: Some(TANH),
};

pub(super) fn operands(elements: usize) -> Operands {
    Operands {
        inputs: vec![Operand::bf16("x", elements)],
        outputs: vec![Operand::bf16("y", elements)],
    }
}
