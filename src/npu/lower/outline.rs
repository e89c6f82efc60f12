//! What lowering must know of a network.

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
    /// Width of all query heads together.
    pub fn query_width(&self) -> usize {
        self.heads * self.head_dim
    }

    pub fn kv_width(&self) -> usize {
        self.kv_heads * self.head_dim
    }
}
