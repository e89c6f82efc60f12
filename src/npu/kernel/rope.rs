//! RoPE: pairs of a head rotated by an angle that grows with the position.
//!
//! - **Herd** 8 × 1, 1 × 1 in decode (M). Three streams, so at most 8 tiles: with more nothing is
//!   moved (M, `kernels.md` §2).
//! - **L1** `3 · 2 · width · 2 bytes + stack ≤ 65536`: one row a transfer (I, `legality.md`).
//! - **Limits**: rows divide over the tiles; halves of whole vectors, `width % 32 = 0` (I from S,
//!   vectors of 16); 64 and 128 were measured (M).
//! - **Rounding**: both products in f32, one floored store (I, `numerics.md` §3).
//! - **Errors**: rtol 1.6e-2, atol 5e-2 (S); mean_rel_L1 2.8e-3, less for few rows, whose small
//!   angles leave most values as they are (M); the band is ±10 %.
//! - **Bound** by memory, up to 57 GB/s (M). **Costs** 0.967 cycles an element and 51.3 a row of a
//!   core (I, `arch.toml`).

use super::form::{Band, Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "rope",
    aliases: &["RoPE"],
    computes: "half-split rotation of each row; row r takes the row of the table of its token: r / heads seq-first, r % tokens heads-first; a table row is cosines, then sines, half a head each",
    inputs: &["x", "table"],
    outputs: &["y"],
    sizes: &["rows", "width"],
    published: &[16_384, 64],
    tile: "none: one row a transfer",
    streams: 3,
    rtol: 1.6e-2,
    atol: 5e-2,
    mean_rel_l1: Some(2.8e-3),
    band: Band::TwoSided(10.0),
    surrogate: None,
};

pub(super) fn operands(rows: usize, width: usize) -> Operands {
    let x = product(&[rows, width]);
    Operands {
        inputs: vec![Operand::bf16("x", x), Operand::bf16("table", x).shared()],
        outputs: vec![Operand::bf16("y", x)],
    }
}
