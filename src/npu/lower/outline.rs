//! What lowering must know of a network.

use crate::model::Config;

/// The sizes and options that decide a program's shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    pub name: String,
    pub hidden: usize,
    pub intermediate: usize,
    pub layers: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    pub vocab: usize,
    /// Biases on queries, keys and values (Qwen2).
    pub qkv_bias: bool,
    /// RMSNorm of each query and key head (Qwen3).
    pub qk_norm: bool,
}

impl Outline {
    /// What the configuration of a network says of it.
    pub fn new(name: &str, config: &Config) -> Self {
        Self {
            name: name.to_owned(),
            hidden: config.hidden,
            intermediate: config.intermediate,
            layers: config.layers,
            heads: config.heads,
            kv_heads: config.kv_heads,
            head_dim: config.head_dim,
            vocab: config.vocab,
            qkv_bias: config.qkv_bias,
            qk_norm: config.qk_norm,
        }
    }

    /// Width of all query heads together.
    pub fn query_width(&self) -> usize {
        self.heads * self.head_dim
    }

    pub fn kv_width(&self) -> usize {
        self.kv_heads * self.head_dim
    }
}
