//! FlashAttention: softmax attention with keys in chunks, two heads at a time on the whole array.

use super::form::{Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "flash-attention",
    computes: "y = softmax(q · kᵀ / sqrt(head_dim), causal) · v, query heads sharing key heads",
    inputs: &["q", "k", "v"],
    outputs: &["y"],
    tile: "m: queries a pass (lqp 256, four tiles of 64); k_l1: keys a chunk (lkp 64)",
    streams: 3,
    rtol: 1.6e-2,
    atol: 1e-1,
    mean_rel_l1: 3.9e-2,
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
