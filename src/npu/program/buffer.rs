//! A buffer object: memory that host and array share, and how it comes by its content.

use serde::{Deserialize, Serialize};

/// Memory of one value. With `Scope::Layer` there is one object a layer, with `Scope::Model` one
/// for all of them: a weight in a shared static buffer keeps the first layer's content, as on the
/// device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer {
    /// The value it holds, by the graph's name for it (`attn_norm`, `q_rope`, `ffn_up.weight`).
    pub name: String,
    /// Rows first: `[512, 576]`.
    pub shape: Vec<usize>,
    pub dtype: Dtype,
    #[serde(default)]
    pub layout: Layout,
    pub residency: Residency,
    #[serde(default)]
    pub scope: Scope,
    /// What the host writes into it; absent for what a dispatch makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
}

impl Buffer {
    /// Sizes saturate: a program file may say anything.
    pub fn elements(&self) -> usize {
        self.shape.iter().fold(1, |all: usize, size| all.saturating_mul(*size))
    }

    pub fn bytes(&self) -> usize {
        self.elements().saturating_mul(self.dtype.bytes())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    #[default]
    Bf16,
    F32,
    I32,
}

impl Dtype {
    pub fn bytes(self) -> usize {
        match self {
            Self::Bf16 => 2,
            Self::F32 | Self::I32 => 4,
        }
    }
}

/// How rows of a `[tokens, heads × head_dim]` value lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// One row a token, heads side by side.
    #[default]
    SeqFirst,
    /// All tokens of a head together.
    HeadsFirst,
}

/// When the host writes it, and whether it is read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Residency {
    /// Written once, before the first call.
    Static,
    /// Written before each dispatch that reads it, read back after each that makes it.
    Activation,
    /// Never written or read back by the host: whatever a launch left there is what is there.
    Intermediate,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One object for each layer.
    #[default]
    Layer,
    /// One object for the whole model.
    Model,
}

/// Where the host takes the content from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// A weight by its role (`attn_q.weight`), packed for the array: `[K, N]` for a GEMM,
    /// `[N, K]` for a GEMV, zero-padded to the buffer's shape.
    Weight(String),
    /// Rows of a weight from `first` on, as many as the buffer has; zeros after the last.
    WeightRows {
        role: String,
        first: usize,
    },
    /// The cosine and sine table of the positions at hand.
    RopeTable,
    /// The hidden state of the tokens at hand.
    Embedding,
    /// The cached keys or values of the layer at hand.
    KeyCache,
    ValueCache,
    Zeros,
}
