//! One transformer layer as dispatches: 15 for Llama, 18 with QKV biases, 17 with QK-norm.

use crate::npu::program::{HostKind, Kernel, Scope};

use super::build::Build;
use super::outline::Outline;

/// Pushes the dispatches of the layer, in the order in which the network computes them.
pub(super) fn layer(build: &mut Build<'_>, outline: &Outline) {
    let seq = build.program.seq;
    let (hidden, wide) = (outline.hidden, outline.intermediate);
    let (q, kv) = (outline.query_width(), outline.kv_width());

    // 1. Norm, then queries, keys and values.
    build.rms_norm("attn_norm", ["hidden", "attn_norm.weight"], seq, hidden);
    let raw = if outline.qkv_bias { ["q_proj", "k_proj", "v_proj"] } else { ["q", "k", "v"] };
    build.linear(raw[0], "attn_norm", "attn_q.weight", hidden, q);
    build.linear(raw[1], "attn_norm", "attn_k.weight", hidden, kv);
    build.linear(raw[2], "attn_norm", "attn_v.weight", hidden, kv);
    if outline.qkv_bias {
        build.bias_add("q", ["q_proj", "attn_q.bias"], q);
        build.bias_add("k", ["k_proj", "attn_k.bias"], kv);
        build.bias_add("v", ["v_proj", "attn_v.bias"], kv);
    }

    // 2. Positions.
    let [mut to_rotate_q, mut to_rotate_k] = ["q", "k"];
    if outline.qk_norm {
        let (rows_q, rows_k) = (seq * outline.heads, seq * outline.kv_heads);
        build.rms_norm("q_norm", ["q", "attn_q_norm.weight"], rows_q, outline.head_dim);
        build.rms_norm("k_norm", ["k", "attn_k_norm.weight"], rows_k, outline.head_dim);
        [to_rotate_q, to_rotate_k] = ["q_norm", "k_norm"];
    }
    build.rope("q_rope", to_rotate_q, outline.heads);
    build.rope("k_rope", to_rotate_k, outline.kv_heads);

    // 3. Attention on the host, then back into the stream.
    build.buffer("attn", &[seq, q]);
    build.host("attn", Scope::Layer, HostKind::Attention, &["q_rope", "k_rope", "v"]);
    build.linear("o", "attn", "attn_output.weight", q, hidden);
    let elements = seq * hidden;
    build.elementwise("attn_out", ["hidden", "o"], Kernel::Add { elements });

    // 4. The feed-forward half.
    build.rms_norm("ffn_norm", ["attn_out", "ffn_norm.weight"], seq, hidden);
    build.linear("gate", "ffn_norm", "ffn_gate.weight", hidden, wide);
    build.linear("up", "ffn_norm", "ffn_up.weight", hidden, wide);
    build.elementwise("silu_mul", ["gate", "up"], Kernel::SiluMul { elements: seq * wide });
    build.linear("down", "silu_mul", "ffn_down.weight", wide, hidden);
    build.elementwise("hidden", ["attn_out", "down"], Kernel::Add { elements });
}
