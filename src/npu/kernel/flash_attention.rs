//! FlashAttention: softmax attention with keys in chunks, two heads at a time on the whole array.
//!
//! Causal or not, heads that share keys (GQA), head widths of 64 and 128.
//!
//! - **Herd** two segments of 4 × 4, so 8 × 4: four tiles of queries by four cascade stages of keys,
//!   two heads at once (M, rule N of `kernels.toml`). 512-query passes of one head, and half the
//!   array, were timed too; other forms hang (tile of 32) or do not place (128).
//! - **Tile**: lqp 256 = 4 × 64 queries, lkp 64 keys (M). Queries and keys in steps of 256.
//! - **Layout**: width 64 sequence-first or heads-first; 128 takes two K chunks, and the
//!   sequence-first kernel hangs with them (ERT_CMD_STATE_TIMEOUT; M, rule O).
//! - **Limits**: an even number of heads (S, rule V: two are unrolled) that the key heads divide;
//!   alone in its dispatch (M, rule T: with anything else compilation takes more than 10 minutes);
//!   at most 4 cascade rows (S).
//! - **Rounding**: scores, weights, maxima, sums and output are carried in bf16, to nearest even;
//!   both products take bfp16 operands; four partial results are merged (I, `numerics.md` §4).
//!   **exp2 is a surrogate**: `2^⌊x⌋ · (1 + frac x)`, picked because it fits five published errors.
//! - **Errors**: rtol 1.6e-2, atol 1e-1 (S). mean_rel_L1 grows with the keys and is smaller behind a
//!   mask: 4.4e-2 to 5.5e-2, 3.8e-2 to 4.5e-2 causal (M, `calibration.csv`); the band is ±20 %.
//! - **Bound** by compute, 0.9 to 1.1 TFLOP/s causal (M). **Costs** `609.8 µs + heads/2 · queries/256
//!   · (pass + keys/256 · chunk)`, pass and chunk 36.3 and 9.19 µs at width 64, 71.7 and 24.3 at 128
//!   (I, `arch.toml`); 1.31 times that inside a deployment, and nobody knows why (I).

use super::form::{Band, Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "flash-attention",
    aliases: &["FlashAttn", "flash_attention"],
    computes: "y = softmax(q · kᵀ / sqrt(head_dim), causal) · v, query heads sharing key heads",
    inputs: &["q", "k", "v"],
    outputs: &["y"],
    sizes: &["queries", "keys", "head_dim", "heads", "kv_heads"],
    published: &[2048, 2048, 64, 32, 8],
    tile: "m: queries a pass (lqp 256, four tiles of 64); k_l1: keys a chunk (lkp 64)",
    streams: 3,
    rtol: 1.6e-2,
    atol: 1e-1,
    mean_rel_l1: Some(3.9e-2),
    band: Band::TwoSided(20.0),
    surrogate: Some("exp2 is a linear-mantissa surrogate of a unit whose table is not published"),
};

pub(super) fn operands(
    queries: usize,
    keys: usize,
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
) -> Operands {
    let q = product(&[queries, heads, head_dim]);
    let kv = product(&[keys, kv_heads, head_dim]);
    Operands {
        inputs: vec![Operand::bf16("q", q), Operand::bf16("k", kv), Operand::bf16("v", kv)],
        outputs: vec![Operand::bf16("y", q)],
    }
}

/// Keys, and the published mean error of attention over them, without and with a causal mask.
/// Source: `shared/npu/calibration.csv`; neither heads nor their width move it by more than 5 %.
const FULL: &[(usize, f64)] = &[(512, 4.4e-2), (1024, 4.8e-2), (16_384, 5.5e-2)];
const CAUSAL: &[(usize, f64)] = &[(2048, 3.9e-2), (16_384, 4.5e-2)];

/// That of the nearest published number of keys, if it is within a factor of two.
pub(super) fn published_error(keys: usize, causal: bool) -> Option<f64> {
    let table = if causal { CAUSAL } else { FULL };
    let away = |known: usize| (known as f64 / keys.max(1) as f64).log2().abs();
    let near = table.iter().filter(|(known, _)| away(*known) <= 1.0);
    near.min_by(|a, b| away(a.0).total_cmp(&away(b.0))).map(|(_, error)| *error)
}
