//! What a dispatch of several launches is called: `rms_gemms_rope`, `o_ffn`.

use crate::npu::program::{Kernel, Launch};

/// A name by rule: the part that each launch plays, each part once, and `ffn` for the whole
/// feed-forward half.
pub(super) fn name_of(launches: &[Launch]) -> String {
    if let [one] = launches {
        return one.outputs.first().cloned().unwrap_or_default();
    }
    let mut parts: Vec<&str> = Vec::new();
    for launch in launches {
        let part = part(launch);
        if parts.last() != Some(&part) {
            parts.push(part);
        }
    }
    let start = parts.iter().position(|part| *part == "gate");
    let end = parts.iter().rposition(|part| *part == "down");
    if let (Some(start), Some(end)) = (start, end)
        && start < end
    {
        // The norm and the sum around the half go with it.
        let goes = |part: &&str| *part == "norm" || *part == "add";
        let before = parts[..start].iter().rev().take_while(|part| goes(part)).count();
        let after = parts[end + 1..].iter().take_while(|part| goes(part)).count();
        parts.splice(start - before..=end + after, ["ffn"]);
    }
    parts.join("_")
}

fn part(launch: &Launch) -> &str {
    let makes = launch.outputs.first().map_or("", String::as_str);
    match (&launch.kernel, makes) {
        (Kernel::RmsNorm { .. }, "attn_norm") => "rms",
        (Kernel::RmsNorm { .. }, "q_norm" | "k_norm") => "qknorm",
        (Kernel::RmsNorm { .. } | Kernel::LayerNorm { .. }, _) => "norm",
        (Kernel::Gemm { .. }, "q" | "k" | "v" | "q_proj" | "k_proj" | "v_proj") => "gemms",
        (Kernel::Gemv { .. }, "q" | "k" | "v" | "q_proj" | "k_proj" | "v_proj") => "gemvs",
        (Kernel::BiasAdd { .. }, _) => "bias",
        (Kernel::Rope { .. }, _) => "rope",
        (Kernel::SiluMul { .. }, _) => "swiglu",
        (Kernel::Add { .. }, _) => "add",
        (Kernel::FlashAttention { .. }, _) => "attn",
        _ => makes,
    }
}
