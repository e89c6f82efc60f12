//! GEMV: one token times a weight, bound by how fast the weight is read.
//!
//! An LM head is this in partitions: rows of the vocabulary cut into equal parts, each a launch of
//! one dispatch with a buffer of its own (`Fill::WeightRows`); 128256 = 8 × 16384 rows, 151936 =
//! 19 × 8192, the last part padded with zeros, 49152 in one (M, `kernels.md` §4).
//!
//! - **Herd** 8 × 1 (S). Three streams.
//! - **Tile**: tile_m rows a core, m_input of them a step, 8 and 8 unless k is large; k_split parts
//!   of k.
//! - **L1** `2·k·(m_input + 1) + stack ≤ 65536`; **L2** `columns·tile_m·(k + 1)·2 ≤ 524288` (I,
//!   `legality.md`: 39 timed rows, no exception; rule D has 2·k less and misses two known cases).
//! - **Limits**: tile_m even, m_input divides it, `k % 64 = 0` (I); `n % (tile_m·columns) = 0` is not
//!   asserted (M). `k ≤ 8160 = 32 × 255` or k_split with `k % k_split = 0` and k_split ≤ 255 (S, rule
//!   B): 70 for 8960, 76 for 9728, 86 for 11008. More than 255 fetches of the vector (rule C) run in
//!   one timed row, so they warn.
//! - **Rounding**: products are exact, 64 lanes add up in f32, one rounding to nearest even (I,
//!   `numerics.md` §3).
//! - **Errors**: rtol 1.6e-2, atol 1e-3 (S); mean_rel_L1 0 to 2.2e-6 against the rounded reference
//!   (M): a sum in another order now and then lands on the other side of a tie. One such output
//!   among n is an error of about 3e-3 / n.
//! - **Bound** by memory, 28 to 33 GB/s alone, 38 to 46 in a dispatch (M). **Costs** 0.857 cycles a
//!   weight and 25.7 a row of a core (I, `arch.toml`).

use super::form::{Band, Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "gemv",
    aliases: &["GEMV", "lm-head", "matvec"],
    computes: "y[n] = w[n, k] · x[k] in f32 lanes, rounded to nearest even",
    inputs: &["x", "w"],
    outputs: &["y"],
    sizes: &["n", "k"],
    published: &[2048, 2048],
    tile: "m: rows a core; k_l1: rows a step (m_input); k_l2: parts that k is cut into (k_split), \
           0 where one transfer holds it",
    streams: 3,
    rtol: 1.6e-2,
    atol: 1e-3,
    mean_rel_l1: Some(2.7e-8),
    band: Band::AtMost(1e-6),
    surrogate: None,
};

pub(super) fn operands(k: usize, n: usize) -> Operands {
    Operands {
        inputs: vec![Operand::bf16("x", k), Operand::bf16("w", product(&[n, k]))],
        outputs: vec![Operand::bf16("y", n)],
    }
}
