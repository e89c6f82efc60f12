//! LayerNorm: each row centred and scaled, times a weight, plus a bias.
//!
//! - **Herd** 8 × 1 (M). Weight and bias are packed in one buffer: a fourth stream has no channel
//!   (M, `kernels.md` §2).
//! - **L1** `3 · 2 · width · 2 bytes + stack ≤ 65536`: a transfer is a whole row (I, `legality.md`).
//! - **Limits**: rows divide over the tiles, `width % 16 = 0` (S, vectors of 16).
//! - **Rounding**: mean and variance in f32, floored to bf16 with the inverse root, then a chain of
//!   floored steps (I, `numerics.md` §3).
//! - **Errors**: rtol 1.6e-2, atol 6e-2 (S); mean_rel_L1 4.4e-3 (M), simulated 4.7e-3; ±20 %.
//! - **Bound** by memory, 9.7 GB/s (M). **Costs** 4.509 cycles an element of a core (I, `arch.toml`).

use super::form::{Band, Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "layer-norm",
    aliases: &["LayerNorm"],
    computes: "y = (x − mean) / sqrt(var + eps) · weight + bias; weight and bias packed in one buffer",
    inputs: &["x", "weight_bias"],
    outputs: &["y"],
    sizes: &["rows", "width"],
    published: &[1024, 768],
    tile: "none: whole rows",
    streams: 3,
    rtol: 1.6e-2,
    atol: 6e-2,
    mean_rel_l1: Some(4.4e-3),
    band: Band::TwoSided(20.0),
    surrogate: None,
};

pub(super) fn operands(rows: usize, width: usize) -> Operands {
    let x = product(&[rows, width]);
    let packed = Operand::bf16("weight_bias", product(&[2, width]));
    Operands { inputs: vec![Operand::bf16("x", x), packed], outputs: vec![Operand::bf16("y", x)] }
}
