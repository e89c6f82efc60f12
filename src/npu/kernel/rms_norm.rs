//! RMSNorm: each row divided by its root mean square, times a weight.
//!
//! QK-norm is this with heads as rows: `rows = tokens · heads`, `width = head_dim`, one weight of
//! head_dim for all heads; 65536 × 128 for the queries of Qwen3-4B at 2048 tokens (M, `kernels.toml`).
//!
//! - **Herd** 8 × 1, 1 × 1 for the single row of a decode call (M). Three streams, so at most 8 tiles.
//! - **L1** `3 · 2 · width · 2 bytes + stack ≤ 65536`: a transfer is a whole row (I, `legality.md`).
//! - **Limits**: rows divide over the tiles, `width % 16 = 0` (S, vectors of 16).
//! - **Rounding**: squares floored to bf16 and summed in f32, the inverse root floored, then two
//!   floored products (I, `numerics.md` §3).
//! - **Errors**: rtol 1.6e-2, atol 5e-2 (S); mean_rel_L1 4.2e-3, 4.6e-3 at width 128 (M), simulated
//!   3.8e-3 to 3.9e-3, 10 to 15 % low for a reason that nobody knows; the band is ±20 %.
//! - **Bound** by memory, 18 to 25 GB/s (M). **Costs** 2.093 cycles an element and 295.8 a row of a
//!   core (I, `arch.toml`).

use super::form::{Band, Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "rms-norm",
    aliases: &["RMSNorm", "rmsnorm", "qk-norm"],
    computes: "y = x / sqrt(mean(x²) + eps) · weight, row by row; QK-norm has heads as rows",
    inputs: &["x", "weight"],
    outputs: &["y"],
    sizes: &["rows", "width"],
    published: &[2048, 3072],
    tile: "none: whole rows",
    streams: 3,
    rtol: 1.6e-2,
    atol: 5e-2,
    mean_rel_l1: Some(4.2e-3),
    band: Band::TwoSided(20.0),
    surrogate: None,
};

pub(super) fn operands(rows: usize, width: usize) -> Operands {
    let x = product(&[rows, width]);
    Operands {
        inputs: vec![Operand::bf16("x", x), Operand::bf16("weight", width)],
        outputs: vec![Operand::bf16("y", x)],
    }
}
