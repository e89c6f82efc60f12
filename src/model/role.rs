//! What a weight is for: one name per part of a decoder, whatever the file calls it.

use std::fmt;

use crate::model::Config;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    Embed,
    AttnNorm,
    Q,
    QBias,
    K,
    KBias,
    V,
    VBias,
    QNorm,
    KNorm,
    O,
    FfnNorm,
    Gate,
    Up,
    Down,
    OutputNorm,
    Output,
}

impl Role {
    pub const ALL: [Self; 17] = [
        Self::Embed,
        Self::AttnNorm,
        Self::Q,
        Self::QBias,
        Self::K,
        Self::KBias,
        Self::V,
        Self::VBias,
        Self::QNorm,
        Self::KNorm,
        Self::O,
        Self::FfnNorm,
        Self::Gate,
        Self::Up,
        Self::Down,
        Self::OutputNorm,
        Self::Output,
    ];

    /// The name that program files and traces use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Embed => "token_embd.weight",
            Self::AttnNorm => "attn_norm.weight",
            Self::Q => "attn_q.weight",
            Self::QBias => "attn_q.bias",
            Self::K => "attn_k.weight",
            Self::KBias => "attn_k.bias",
            Self::V => "attn_v.weight",
            Self::VBias => "attn_v.bias",
            Self::QNorm => "attn_q_norm.weight",
            Self::KNorm => "attn_k_norm.weight",
            Self::O => "attn_output.weight",
            Self::FfnNorm => "ffn_norm.weight",
            Self::Gate => "ffn_gate.weight",
            Self::Up => "ffn_up.weight",
            Self::Down => "ffn_down.weight",
            Self::OutputNorm => "output_norm.weight",
            Self::Output => "output.weight",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether each layer has one of its own.
    pub fn is_per_layer(self) -> bool {
        !matches!(self, Self::Embed | Self::OutputNorm | Self::Output)
    }

    /// Whether a network of this config has it at all. A tied head is a use of the embedding.
    pub fn is_in(self, config: &Config) -> bool {
        match self {
            Self::QBias | Self::KBias | Self::VBias => config.qkv_bias,
            Self::QNorm | Self::KNorm => config.qk_norm,
            Self::Output => !config.tied,
            _ => true,
        }
    }

    /// `[out, in]` for matrices, `[width]` for norms and biases.
    pub fn shape(self, config: &Config) -> Vec<usize> {
        let (hidden, inner) = (config.hidden, config.intermediate);
        match self {
            Self::Embed | Self::Output => vec![config.vocab, hidden],
            Self::AttnNorm | Self::FfnNorm | Self::OutputNorm => vec![hidden],
            Self::Q => vec![config.q_width(), hidden],
            Self::K | Self::V => vec![config.kv_width(), hidden],
            Self::QBias => vec![config.q_width()],
            Self::KBias | Self::VBias => vec![config.kv_width()],
            Self::QNorm | Self::KNorm => vec![config.head_dim],
            Self::O => vec![hidden, config.q_width()],
            Self::Gate | Self::Up => vec![inner, hidden],
            Self::Down => vec![hidden, inner],
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
