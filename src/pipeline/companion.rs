//! The same network with the published rounding: what an honest target may err by.
//!
//! It follows the graph, not the program, and shares no code with the simulator's kernels. From the
//! program it takes only what changes rounding: how each product is made, and where attention runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::fault::Fault;
use super::rounding::{
    Attention, add, attention, bias_add, flash_attention, gemm, near, rms_norm, rope, silu_mul,
    truncating,
};
use crate::model::{Model, ModelError, Role};
use crate::npu::{HostKind, Kernel, Method, Program, Work};
use crate::tensor::{Rope, Tensor, matmul, ops};

/// What of a program decides how its values are rounded.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tiers {
    /// By the name of what a product makes.
    methods: BTreeMap<String, Method>,
    attention_on_host: bool,
    /// Sums that the host makes, by name: it rounds to the nearest, where the array floors.
    sums_on_host: BTreeSet<String>,
}

impl Tiers {
    pub(super) fn of(program: &Program) -> Self {
        let mut tiers = Self::default();
        for dispatch in &program.dispatches {
            match &dispatch.work {
                Work::Host(op) => {
                    tiers.attention_on_host |= op.op == HostKind::Attention;
                    if op.op == HostKind::Add {
                        tiers.sums_on_host.extend(op.outputs.iter().cloned());
                    }
                }
                Work::Launches(launches) => {
                    for launch in launches {
                        if let (Kernel::Gemm { method, .. }, Some(made)) =
                            (launch.kernel, launch.outputs.first())
                        {
                            tiers.methods.insert(made.clone(), method);
                        }
                    }
                }
            }
        }
        tiers
    }

    /// Names what a cached run depends on.
    pub(super) fn text(&self) -> String {
        format!("{self:?}")
    }

    fn method(&self, made: &str) -> Method {
        // A residual that is added inside another launch keeps the name of what it feeds.
        self.methods.get(made).copied().unwrap_or_default()
    }
}

pub(super) struct Companion {
    model: Arc<Model>,
    tiers: Tiers,
    cos: Vec<f32>,
    sin: Vec<f32>,
    tokens: usize,
}

impl Companion {
    /// For prompts of so many tokens.
    pub(super) fn new(model: Arc<Model>, tiers: Tiers, tokens: usize) -> Self {
        let turns = Rope::new(&model.config.inverse_frequencies(), 0..tokens);
        let table = |of: fn(&Rope, usize) -> &[f32]| -> Vec<f32> {
            (0..tokens).flat_map(|at| of(&turns, at).iter().map(|x| near(*x))).collect()
        };
        let (cos, sin) = (table(Rope::cos), table(Rope::sin));
        Self { model, tiers, cos, sin, tokens }
    }

    pub(super) fn embed(&self, tokens: &[u32]) -> Result<Tensor, ModelError> {
        let table = self.model.weights.get(Role::Embed, None)?;
        let rows = tokens.iter().flat_map(|id| table.row(*id as usize).iter().map(|x| near(*x)));
        Ok(Tensor::new([tokens.len(), table.width()], rows.collect()))
    }

    /// One layer on the residual stream before it, with or without a mistake.
    pub(super) fn layer(
        &self,
        index: usize,
        before: &Tensor,
        fault: Option<Fault>,
    ) -> Result<Tensor, ModelError> {
        let c = &self.model.config;
        let from = match fault {
            Some(Fault::SiblingWeights) => (index + 1) % c.layers,
            _ => index,
        };
        let weight = |role| self.weight(role, from);
        // 1. Norm, projections, biases.
        let normed = rms_norm(&before.data, &weight(Role::AttnNorm)?, c.norm_eps);
        let raw =
            |plain: &'static str, biased: &'static str| if c.qkv_bias { biased } else { plain };
        let mut q = self.product(&normed, &weight(Role::Q)?, c.hidden, raw("q", "q_proj"), fault);
        let mut k = self.product(&normed, &weight(Role::K)?, c.hidden, raw("k", "k_proj"), fault);
        let mut v = self.product(&normed, &weight(Role::V)?, c.hidden, raw("v", "v_proj"), fault);
        if c.qkv_bias {
            q = bias_add(&q, &weight(Role::QBias)?);
            k = bias_add(&k, &weight(Role::KBias)?);
            v = bias_add(&v, &weight(Role::VBias)?);
        }
        // 2. QK-norm and positions.
        if c.qk_norm {
            q = rms_norm(&q, &weight(Role::QNorm)?, c.norm_eps);
            k = rms_norm(&k, &weight(Role::KNorm)?, c.norm_eps);
        }
        let half = c.head_dim / 2;
        q = rope(&q, c.q_width(), &self.cos, &self.sin, half);
        k = rope(&k, c.kv_width(), &self.cos, &self.sin, half);
        if fault == Some(Fault::ShiftedValues) {
            v.rotate_right(c.kv_width());
        }
        // 3. Attention and the residual.
        let heads = Attention {
            heads: c.heads,
            kv_heads: c.kv_heads,
            head_dim: c.head_dim,
            causal: fault != Some(Fault::CausalOff),
        };
        let mut attn = if self.tiers.attention_on_host {
            attention(&q, &k, &v, heads).into_iter().map(near).collect()
        } else {
            flash_attention(&q, &k, &v, heads)
        };
        if fault == Some(Fault::SwappedHeads) {
            swap_heads(&mut attn, c.q_width(), c.head_dim);
        }
        let o = self.product(&attn, &weight(Role::O)?, c.q_width(), "o", fault);
        let middle = self.sum("attn_out", &before.data, &o);
        // 4. The feed-forward half.
        let normed = rms_norm(&middle, &weight(Role::FfnNorm)?, c.norm_eps);
        let gate = self.product(&normed, &weight(Role::Gate)?, c.hidden, "gate", fault);
        let up = self.product(&normed, &weight(Role::Up)?, c.hidden, "up", fault);
        let inner = silu_mul(&gate, &up);
        let down = self.product(&inner, &weight(Role::Down)?, c.intermediate, "down", fault);
        let hidden = self.sum("hidden", &middle, &down);
        Ok(Tensor::new([self.tokens, c.hidden], hidden))
    }

    /// Logits of the last position: norm and head stay on the host, in f32 between bf16 buffers.
    pub(super) fn logits(&self, hidden: &Tensor) -> Result<Vec<f32>, ModelError> {
        let c = &self.model.config;
        let norm = self.model.weights.get(Role::OutputNorm, None)?;
        let head = self.model.weights.get(Role::Output, None)?;
        let mut normed = vec![0.0; c.hidden];
        ops::rms_norm(hidden.last(), &norm.data, c.norm_eps, &mut normed);
        for x in &mut normed {
            *x = near(*x);
        }
        let mut logits = vec![0.0; c.vocab];
        matmul(&normed, &head.data, &mut logits, 1, c.hidden);
        for x in &mut logits {
            *x = near(*x);
        }
        Ok(logits)
    }

    fn weight(&self, role: Role, layer: usize) -> Result<Vec<f32>, ModelError> {
        let tensor = self.model.weights.get(role, Some(layer))?;
        Ok(tensor.data.par_iter().with_min_len(4096).map(|x| near(*x)).collect())
    }

    /// A residual, rounded as the place does that makes it.
    fn sum(&self, made: &str, a: &[f32], b: &[f32]) -> Vec<f32> {
        if self.tiers.sums_on_host.contains(made) {
            return a.par_iter().zip(b).map(|(a, b)| near(a + b)).collect();
        }
        add(a, b)
    }

    fn product(
        &self,
        x: &[f32],
        w: &[f32],
        k: usize,
        made: &str,
        fault: Option<Fault>,
    ) -> Vec<f32> {
        if fault == Some(Fault::Truncating) {
            return truncating(x, w, k);
        }
        gemm(x, w, k, self.tiers.method(made))
    }
}

fn swap_heads(attn: &mut [f32], width: usize, d: usize) {
    for row in attn.chunks_mut(width) {
        let (first, rest) = row.split_at_mut(d);
        if let Some(last) = rest.len().checked_sub(d) {
            first.swap_with_slice(&mut rest[last..]);
        }
    }
}
