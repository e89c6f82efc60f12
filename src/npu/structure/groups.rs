//! Which dispatches are one call, by the sizes of a network (`shared/npu/kernels.md` §4).

use crate::model::Stage;
use crate::npu::lower::Outline;

/// What becomes one call, with the name under which it was published.
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) parts: Vec<&'static str>,
}

/// The second half of a layer, in the order in which it is computed.
const SECOND_HALF: [&str; 8] =
    ["o", "attn_out", "ffn_norm", "gate", "up", "silu_mul", "down", "hidden"];
/// Glue between the GEMVs of a decode call that is not fused: a launch costs more than the work.
pub(super) const GLUE: [&str; 4] = ["attn_out", "ffn_norm", "silu_mul", "hidden"];

/// The widest feed-forward half that was published as one call, and that shared one for its two
/// products.
const WIDEST_WHOLE: usize = 8192;
const WIDEST_PAIR: usize = 9216;
/// Hidden widths from which the cascade of a fused decode call needs a fifth row of cores.
const CASCADE_BELOW: usize = 2560;
/// Elements that one stage of the cascade takes at a time.
const CASCADE_STEP: usize = 512;

/// Whether the second half of a decode layer is one call.
pub(super) fn is_fused(outline: &Outline) -> bool {
    let widths = [outline.hidden, outline.query_width(), outline.intermediate];
    outline.hidden < CASCADE_BELOW && widths.iter().all(|k| k.is_multiple_of(CASCADE_STEP))
}

pub(super) fn groups(outline: &Outline, stage: Stage) -> Vec<Group> {
    let mut groups = vec![first_half(outline, stage)];
    match stage {
        Stage::Prefill => groups.extend(second_half(outline)),
        Stage::Decode if is_fused(outline) => groups.push(of("o_gemv_ffn", &SECOND_HALF)),
        Stage::Decode => (),
    }
    groups
}

fn first_half(outline: &Outline, stage: Stage) -> Group {
    let mut parts = vec!["attn_norm"];
    if outline.qkv_bias {
        parts.extend(["q_proj", "k_proj", "v_proj"]);
    }
    parts.extend(["q", "k", "v"]);
    if outline.qk_norm {
        parts.extend(["q_norm", "k_norm"]);
    }
    parts.extend(["q_rope", "k_rope"]);
    let name = match (stage, outline.qkv_bias, outline.qk_norm) {
        (Stage::Prefill, true, _) => "rms_qkv_bias_rope",
        (Stage::Prefill, _, true) => "rms_qkv_qknorm_rope",
        (Stage::Prefill, ..) => "rms_gemms_rope",
        (Stage::Decode, true, _) => "rms_qkv_bias_rope_gemv",
        (Stage::Decode, _, true) => "rms_qkv_qknorm_rope_gemv",
        (Stage::Decode, ..) => "rms_gemv_rope",
    };
    Group { name, parts }
}

/// One call while the feed-forward width is aligned and not too wide; then it falls apart, the last
/// product first, since it must begin its call.
fn second_half(outline: &Outline) -> Vec<Group> {
    let wide = outline.intermediate;
    let down_add = of("down_add", &SECOND_HALF[6..]);
    if wide.is_multiple_of(1024) && wide <= WIDEST_WHOLE {
        return vec![of("o_ffn", &SECOND_HALF)];
    }
    if wide <= WIDEST_WHOLE {
        return vec![of("o_ffn_head", &SECOND_HALF[..6]), down_add];
    }
    let mut groups = vec![of("o_res_norm", &SECOND_HALF[..3])];
    if wide <= WIDEST_PAIR {
        groups.push(of("gate_up", &SECOND_HALF[3..5]));
    }
    groups.push(down_add);
    groups
}

fn of(name: &'static str, parts: &[&'static str]) -> Group {
    Group { name, parts: parts.to_vec() }
}
