//! BiasAdd: one row added to every row.
//!
//! - **Herd** 8 × 1; three streams, so at most 8 tiles (M, rule M of `kernels.toml`).
//! - **L1** `3 · 2 · width · 2 bytes + stack ≤ 65536`: a transfer is a whole row (I, `legality.md`).
//! - **Limits**: rows divide over the tiles, `width % 16 = 0` (S, vectors of 16).
//! - **Rounding**: the sum is floored to bf16, as in Add (I, `numerics.md` §3).
//! - **Errors**: those of Add, of which it is a use (S, `kernels.toml`: "residual, bias"): rtol
//!   1.6e-2, atol 5e-2, mean_rel_L1 1.9e-3 (M), ±10 %. No row of its own carries an error.
//! - **Bound** by memory. **Costs** as Add, 1.237 cycles an element of a core (I, `arch.toml`): its
//!   only timed row is inside a dispatch (M).

use super::form::{Band, Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "bias-add",
    aliases: &["BiasAdd"],
    computes: "y = x + bias, row by row",
    inputs: &["x", "bias"],
    outputs: &["y"],
    sizes: &["rows", "width"],
    published: &[1024, 768],
    tile: "none: whole rows",
    streams: 3,
    rtol: 1.6e-2,
    atol: 5e-2,
    mean_rel_l1: Some(1.9e-3),
    band: Band::TwoSided(10.0),
    surrogate: None,
};

pub(super) fn operands(rows: usize, width: usize) -> Operands {
    let x = product(&[rows, width]);
    Operands {
        inputs: vec![Operand::bf16("x", x), Operand::bf16("bias", width)],
        outputs: vec![Operand::bf16("y", x)],
    }
}
