//! What runs: dispatches in order, each one host call of launches or of a host operator.

use serde::{Deserialize, Serialize};

use super::buffer::{Buffer, Scope};
use crate::model::Stage;

/// The deployment of one stage. The dispatches of `Scope::Layer` are the template of every layer,
/// run `layers` times; those of `Scope::Model` before and after them run once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    pub stage: Stage,
    pub model: String,
    pub layers: usize,
    /// Tokens of one call: the compiled sequence in prefill, 1 in decode.
    pub seq: usize,
    /// Places in the KV cache.
    pub capacity: usize,
    /// Query heads, key/value heads and head width as deployed: padding changes them.
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    pub buffers: Vec<Buffer>,
    pub dispatches: Vec<Dispatch>,
}

impl Program {
    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|buffer| buffer.name == name)
    }

    /// Host calls a layer, host operators included. Keys and values that go into the cache as they
    /// are read back are not counted, as they are not in published numbers.
    pub fn dispatches_per_layer(&self) -> usize {
        let counted = |dispatch: &&Dispatch| {
            dispatch.scope == Scope::Layer && !dispatch.is_host(HostKind::CacheWrite)
        };
        self.dispatches.iter().filter(counted).count()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    pub name: String,
    #[serde(default)]
    pub scope: Scope,
    pub work: Work,
}

impl Dispatch {
    /// Whether it is this host operator.
    pub fn is_host(&self, kind: HostKind) -> bool {
        matches!(&self.work, Work::Host(op) if op.op == kind)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// One call of the array; a fused dispatch still passes values between launches through DDR.
    Launches(Vec<Launch>),
    Host(HostOp),
}

/// One kernel on the array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    pub kernel: Kernel,
    /// Names of buffers, in the order that the kernel's file states.
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    /// Columns and rows of the herd.
    pub herd: [usize; 2],
    #[serde(default)]
    pub tile: Tile,
}

/// Tile sizes, in elements; what a kernel does not have stays 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Tile {
    /// Rows a core (GEMM `tile_m`, GEMV `tile_m`, FlashAttention `lqp`).
    pub m: usize,
    /// Depth staged in L2 (GEMM `tile_k_l2`, GEMV `k_split`).
    pub k_l2: usize,
    /// Depth of one L1 step (GEMM `tile_k_l1`, GEMV `m_input`, FlashAttention `lkp`).
    pub k_l1: usize,
    /// Columns a core (GEMM `tile_n`; vector kernels: elements a step).
    pub n: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kernel {
    /// `[m, k] · [k, n]`.
    Gemm {
        m: usize,
        k: usize,
        n: usize,
        method: Method,
    },
    /// `[n, k] · [k]`.
    Gemv {
        k: usize,
        n: usize,
    },
    FlashAttention {
        queries: usize,
        keys: usize,
        heads: usize,
        kv_heads: usize,
        head_dim: usize,
        causal: bool,
    },
    /// Rows of `width`; QK-norm is this with heads as rows.
    RmsNorm {
        rows: usize,
        width: usize,
    },
    LayerNorm {
        rows: usize,
        width: usize,
    },
    /// Half-split rotation of `rows` heads of `width`.
    Rope {
        rows: usize,
        width: usize,
    },
    SiluMul {
        elements: usize,
    },
    Gelu {
        elements: usize,
    },
    Add {
        elements: usize,
    },
    /// Adds one row of `width` to each of `rows`.
    BiasAdd {
        rows: usize,
        width: usize,
    },
    Cast {
        elements: usize,
    },
}

/// How a GEMM of bf16 operands makes its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// f32 scratch, then a cast launch (inside the same kernel's cost) that floors.
    #[default]
    FusedCast,
    /// Drained from the core as bf16, rounded to nearest even.
    Drain,
    /// The accumulator itself is bf16: the low-precision tier.
    Direct,
    /// f32 result.
    External,
}

/// What stays on the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostOp {
    pub op: HostKind,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostKind {
    /// Token ids to hidden state.
    Embed,
    /// Softmax attention in f32 over the KV cache, which it appends to.
    Attention,
    /// Appends keys and values to the cache, where attention runs on the array.
    CacheWrite,
    /// Sequence-first to heads-first, or back.
    Transpose,
    FinalNorm,
    LmHead,
    RmsNorm,
    Rope,
    SiluMul,
    Add,
    BiasAdd,
}
