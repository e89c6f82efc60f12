//! Where the values of the network lie in the wider buffers of a padded deployment.

use crate::model::{Config, Role};
use crate::npu::Program;

/// What one dimension of a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Hidden,
    Inner,
    /// Query heads, side by side.
    Queries,
    /// Key or value heads, side by side.
    Keys,
    /// One head.
    Head,
    Vocab,
}

impl Axis {
    /// Whether padding of heads moves what lies along it.
    pub(super) fn is_of_heads(self) -> bool {
        matches!(self, Self::Queries | Self::Keys | Self::Head)
    }
}

/// The sizes of a network, and of the heads as they are deployed.
#[derive(Clone, Debug)]
pub(super) struct Widths {
    hidden: usize,
    inner: usize,
    vocab: usize,
    real: HeadShape,
    deployed: HeadShape,
}

/// How many heads there are, and how wide one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HeadShape {
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
}

impl Widths {
    pub(super) fn new(config: &Config, program: &Program) -> Self {
        let (heads, kv_heads, head_dim) = (config.heads, config.kv_heads, config.head_dim);
        let deployed = HeadShape {
            heads: program.heads,
            kv_heads: program.kv_heads,
            head_dim: program.head_dim,
        };
        Self {
            hidden: config.hidden,
            inner: config.intermediate,
            vocab: config.vocab,
            real: HeadShape { heads, kv_heads, head_dim },
            deployed,
        }
    }

    pub(super) fn deployed(&self) -> HeadShape {
        self.deployed
    }

    /// The network's own size along an axis.
    pub(super) fn real(&self, axis: Axis) -> usize {
        match axis {
            Axis::Hidden => self.hidden,
            Axis::Inner => self.inner,
            Axis::Queries => self.real.heads * self.real.head_dim,
            Axis::Keys => self.real.kv_heads * self.real.head_dim,
            Axis::Head => self.real.head_dim,
            Axis::Vocab => self.vocab,
        }
    }

    /// Why these heads cannot hold the network's; `None` when they can.
    pub(super) fn misfit(&self) -> Option<String> {
        let (real, deployed) = (self.real, self.deployed);
        let group = |heads: HeadShape| heads.heads.checked_div(heads.kv_heads).unwrap_or(0);
        let whole = deployed.kv_heads > 0 && deployed.heads.is_multiple_of(deployed.kv_heads);
        let wide = deployed.kv_heads >= real.kv_heads && group(deployed) >= group(real);
        let even = deployed.head_dim >= real.head_dim && deployed.head_dim.is_multiple_of(2);
        (!(whole && wide && even)).then(|| {
            format!(
                "{} query and {} key heads of {} do not hold the model's {}, {} and {}",
                deployed.heads,
                deployed.kv_heads,
                deployed.head_dim,
                real.heads,
                real.kv_heads,
                real.head_dim,
            )
        })
    }

    /// For each value of the network, its place in a deployed row: phantom query heads are the
    /// last of their KV group, other padding is at the end, and the halves of a head stay halves.
    pub(super) fn places(&self, axis: Axis) -> Vec<usize> {
        let (real, deployed) = (self.real, self.deployed);
        let (group, wide) = (real.heads / real.kv_heads, deployed.heads / deployed.kv_heads);
        let head_place = |head: usize| match axis {
            Axis::Queries => head / group * wide + head % group,
            _ => head,
        };
        let half = real.head_dim / 2;
        let within = |j: usize| if j < half { j } else { j - half + deployed.head_dim / 2 };
        match axis {
            Axis::Hidden | Axis::Inner | Axis::Vocab => (0..self.real(axis)).collect(),
            Axis::Queries | Axis::Keys | Axis::Head => (0..self.real(axis))
                .map(|at| {
                    head_place(at / real.head_dim) * deployed.head_dim + within(at % real.head_dim)
                })
                .collect(),
        }
    }
}

/// The axes of a weight: outputs, then inputs; one axis for norms and biases.
pub(super) fn of_role(role: Role) -> (Axis, Option<Axis>) {
    match role {
        Role::Embed | Role::Output => (Axis::Vocab, Some(Axis::Hidden)),
        Role::Q => (Axis::Queries, Some(Axis::Hidden)),
        Role::K | Role::V => (Axis::Keys, Some(Axis::Hidden)),
        Role::O => (Axis::Hidden, Some(Axis::Queries)),
        Role::Gate | Role::Up => (Axis::Inner, Some(Axis::Hidden)),
        Role::Down => (Axis::Hidden, Some(Axis::Inner)),
        Role::QBias => (Axis::Queries, None),
        Role::KBias | Role::VBias => (Axis::Keys, None),
        Role::QNorm | Role::KNorm => (Axis::Head, None),
        Role::AttnNorm | Role::FfnNorm | Role::OutputNorm => (Axis::Hidden, None),
    }
}

/// The axis of a value by its name; `None` for what the oracle does not show.
pub(super) fn of_value(name: &str) -> Option<Axis> {
    Some(match name {
        "embed" | "attn_norm" | "o" | "attn_out" | "ffn_norm" | "down" | "hidden"
        | "final_norm" => Axis::Hidden,
        "q_proj" | "q" | "q_norm" | "q_rope" | "attn" => Axis::Queries,
        "k_proj" | "k" | "k_norm" | "k_rope" | "v_proj" | "v" => Axis::Keys,
        "gate" | "up" | "silu_mul" => Axis::Inner,
        "logits" => Axis::Vocab,
        _ => return None,
    })
}
