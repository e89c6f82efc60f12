//! Which name in a file is which role: Hugging Face and GGUF.

use crate::model::Role;

/// The place of a tensor in a network: a role, and a layer where each layer has its own.
pub(in crate::model) type Place = (Role, Option<usize>);

/// What a name in a checkpoint turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) enum Named {
    Is(Place),
    /// Not a weight: a table that is computed from the config, and may be left in a file.
    Derived,
    Unknown,
}

/// `model.layers.3.self_attn.q_proj.weight`
pub(in crate::model) fn hugging_face(name: &str) -> Named {
    let whole = match name {
        "model.embed_tokens.weight" => Some(Role::Embed),
        "model.norm.weight" => Some(Role::OutputNorm),
        "lm_head.weight" => Some(Role::Output),
        _ => None,
    };
    if let Some(role) = whole {
        return Named::Is((role, None));
    }
    let Some((layer, part)) = layer(name, "model.layers.") else {
        return Named::Unknown;
    };
    let role = match part {
        "input_layernorm.weight" => Role::AttnNorm,
        "self_attn.q_proj.weight" => Role::Q,
        "self_attn.q_proj.bias" => Role::QBias,
        "self_attn.k_proj.weight" => Role::K,
        "self_attn.k_proj.bias" => Role::KBias,
        "self_attn.v_proj.weight" => Role::V,
        "self_attn.v_proj.bias" => Role::VBias,
        "self_attn.q_norm.weight" => Role::QNorm,
        "self_attn.k_norm.weight" => Role::KNorm,
        "self_attn.o_proj.weight" => Role::O,
        "post_attention_layernorm.weight" => Role::FfnNorm,
        "mlp.gate_proj.weight" => Role::Gate,
        "mlp.up_proj.weight" => Role::Up,
        "mlp.down_proj.weight" => Role::Down,
        "self_attn.rotary_emb.inv_freq" => return Named::Derived,
        _ => return Named::Unknown,
    };
    Named::Is((role, Some(layer)))
}

/// `blk.3.attn_q.weight`: after the layer, our names are GGUF's.
pub(in crate::model) fn gguf(name: &str) -> Named {
    if name == "rope_freqs.weight" {
        return Named::Derived;
    }
    let (layer, part) = match layer(name, "blk.") {
        Some((layer, part)) => (Some(layer), part),
        None => (None, name),
    };
    match Role::parse(part) {
        Some(role) if role.is_per_layer() == layer.is_some() => Named::Is((role, layer)),
        _ => Named::Unknown,
    }
}

fn layer<'a>(name: &'a str, prefix: &str) -> Option<(usize, &'a str)> {
    let (number, part) = name.strip_prefix(prefix)?.split_once('.')?;
    Some((number.parse().ok()?, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_roles() {
        let is = |role, layer| Named::Is((role, layer));
        assert_eq!(hugging_face("model.layers.12.mlp.up_proj.weight"), is(Role::Up, Some(12)));
        assert_eq!(hugging_face("lm_head.weight"), is(Role::Output, None));
        assert_eq!(hugging_face("model.layers.0.mlp.experts.3.weight"), Named::Unknown);
        assert_eq!(hugging_face("model.layers.x.mlp.up_proj.weight"), Named::Unknown);
        assert_eq!(gguf("blk.7.attn_k.bias"), is(Role::KBias, Some(7)));
        assert_eq!(gguf("token_embd.weight"), is(Role::Embed, None));
        assert_eq!(gguf("blk.7.token_embd.weight"), Named::Unknown);
        assert_eq!(gguf("attn_k.bias"), Named::Unknown);
        assert_eq!(gguf("rope_freqs.weight"), Named::Derived);
    }
}
