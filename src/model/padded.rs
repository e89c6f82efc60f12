//! The same network with zeros around it, so that its sizes suit an array.

use std::sync::Arc;

use crate::model::weights::Spread;
use crate::model::{Config, Model, ModelError, Provenance, Role, RopeScaling, Weights};

/// The sizes of a padded network; each at least the network's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding {
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    pub hidden: usize,
    pub intermediate: usize,
}

impl Padding {
    /// No padding: change what is to grow.
    pub fn none(config: &Config) -> Self {
        Self {
            heads: config.heads,
            kv_heads: config.kv_heads,
            head_dim: config.head_dim,
            hidden: config.hidden,
            intermediate: config.intermediate,
        }
    }

    fn holds(&self, c: &Config) -> bool {
        let whole = self.kv_heads > 0 && self.heads.is_multiple_of(self.kv_heads);
        whole
            && self.kv_heads >= c.kv_heads
            && self.heads / self.kv_heads >= c.group()
            && self.head_dim >= c.head_dim
            && self.head_dim.is_multiple_of(2)
            && self.hidden >= c.hidden
            && self.intermediate >= c.intermediate
    }
}

impl Model {
    /// Phantom query heads are the last of their key/value group, so that the others keep the key
    /// they share; the halves of a head stay halves, so that they keep their partners in rotation;
    /// everything else is added at the end. The text it writes is the same.
    pub fn padded(&self, padding: Padding) -> Result<Self, ModelError> {
        let c = &self.config;
        if !padding.holds(c) {
            let hint = "every size must be at least the model's, and heads a multiple of kv heads";
            return Err(ModelError::input(format!("{padding:?} does not hold the network"), hint));
        }
        let config = Config {
            hidden: padding.hidden,
            intermediate: padding.intermediate,
            heads: padding.heads,
            kv_heads: padding.kv_heads,
            head_dim: padding.head_dim,
            // A mean over more values, the new ones zero, is smaller by this much.
            norm_eps: (f64::from(c.norm_eps) * ratio(c.hidden, padding.hidden)) as f32,
            rope_scaling: turns(c, padding.head_dim),
            ..c.clone()
        }
        .validated(&self.name)?;
        let spread = |role| spread(role, c, &padding);
        let weights = Weights::new(self.weights.spread(&config, spread), &config, &self.name)?;
        Ok(Self::new(
            self.name.clone(),
            config,
            weights,
            self.tokenizer.clone(),
            Provenance::Padded { of: self.hash().clone() },
        ))
    }
}

fn ratio(small: usize, large: usize) -> f64 {
    small as f64 / large as f64
}

/// The kept pairs turn as before, whatever the width of a head.
fn turns(config: &Config, head_dim: usize) -> RopeScaling {
    if head_dim == config.head_dim {
        return config.rope_scaling.clone();
    }
    let wider = Config { head_dim, rope_scaling: RopeScaling::None, ..config.clone() };
    let wanted = config.inverse_frequencies();
    let plain = wider.inverse_frequencies().into_iter().enumerate();
    let factor = |(pair, plain): (usize, f64)| wanted.get(pair).map_or(1.0, |turn| plain / turn);
    RopeScaling::Factors(plain.map(|pair| factor(pair) as f32).collect())
}

#[derive(Clone, Copy)]
enum Axis {
    Hidden,
    Inner,
    Queries,
    Keys,
    Head,
    Vocab,
}

/// For each value along an axis, its place in the padded network.
fn places(axis: Axis, c: &Config, padding: &Padding) -> Arc<[usize]> {
    let half = c.head_dim / 2;
    let within = |j: usize| if j < half { j } else { j - half + padding.head_dim / 2 };
    let groups = padding.heads / padding.kv_heads;
    let head = |head: usize| head / c.group() * groups + head % c.group();
    let heads = |count: usize, place: &dyn Fn(usize) -> usize| {
        let value = |at: usize| place(at / c.head_dim) * padding.head_dim + within(at % c.head_dim);
        (0..count * c.head_dim).map(value).collect()
    };
    match axis {
        Axis::Hidden => (0..c.hidden).collect(),
        Axis::Inner => (0..c.intermediate).collect(),
        Axis::Vocab => (0..c.vocab).collect(),
        Axis::Queries => heads(c.heads, &head),
        Axis::Keys => heads(c.kv_heads, &|head| head),
        Axis::Head => heads(1, &|head| head),
    }
}

/// Where a weight goes, and what it is multiplied by to make up for a longer mean or a wider head.
fn spread(role: Role, c: &Config, padding: &Padding) -> Spread {
    let (rows, columns) = match role {
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
    };
    let wider = ratio(padding.head_dim, c.head_dim).sqrt();
    let scale = match role {
        Role::AttnNorm | Role::FfnNorm | Role::OutputNorm => ratio(c.hidden, padding.hidden).sqrt(),
        // Scores are divided by the root of the padded width. With QK-norm the norm of q takes
        // that back by itself, and only the longer mean of k is left to make up for.
        Role::Q | Role::QBias if !c.qk_norm => wider,
        Role::KNorm => 1.0 / wider,
        _ => 1.0,
    };
    let places = |axis| places(axis, c, padding);
    Spread { rows: places(rows), columns: columns.map(places), scale: scale as f32 }
}
