//! The resolved shape of a decoder: every number that the oracle and the lowering need.

use std::f64::consts::PI;
use std::fmt;

use serde::Serialize;

use crate::base::Hash;
use crate::model::{ModelError, Role};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    Llama,
    Qwen2,
    Qwen3,
    Mistral,
}

impl Family {
    pub fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
            Self::Mistral => "mistral",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Llama, Self::Qwen2, Self::Qwen3, Self::Mistral]
            .into_iter()
            .find(|f| f.name() == name)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How rotary frequencies are bent for long contexts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RopeScaling {
    None,
    /// Long waves are slowed down by `factor`, short ones kept, those between are blended.
    Llama3 {
        factor: f64,
        low_freq_factor: f64,
        high_freq_factor: f64,
        original: usize,
    },
    /// Each frequency is divided by its own factor: what a GGUF file holds as `rope_freqs.weight`.
    Factors(Vec<f32>),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    pub family: Family,
    pub hidden: usize,
    pub intermediate: usize,
    pub layers: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    pub vocab: usize,
    pub norm_eps: f32,
    pub rope_theta: f64,
    pub rope_scaling: RopeScaling,
    /// The head uses the embedding's weights.
    pub tied: bool,
    pub qkv_bias: bool,
    pub qk_norm: bool,
    pub max_positions: usize,
    pub bos: Option<u32>,
    pub eos: Vec<u32>,
}

impl Config {
    /// `heads · head_dim`: it need not be `hidden`.
    pub fn q_width(&self) -> usize {
        self.heads * self.head_dim
    }

    pub fn kv_width(&self) -> usize {
        self.kv_heads * self.head_dim
    }

    /// Query heads for each key/value head.
    pub fn group(&self) -> usize {
        self.heads / self.kv_heads
    }

    /// How many numbers the network has; a tied head counts once.
    pub fn parameters(&self) -> usize {
        let count = |role: &Role| {
            let times = if role.is_per_layer() { self.layers } else { 1 };
            times * role.shape(self).iter().product::<usize>()
        };
        Role::ALL.iter().filter(|role| role.is_in(self)).map(count).sum()
    }

    /// The angle by which each of the `head_dim / 2` pairs turns from a position to the next.
    pub fn inverse_frequencies(&self) -> Vec<f64> {
        let plain = (0..self.head_dim / 2)
            .map(|j| self.rope_theta.powf(-2.0 * j as f64 / self.head_dim as f64));
        match &self.rope_scaling {
            RopeScaling::None => plain.collect(),
            RopeScaling::Factors(factors) => {
                plain.zip(factors).map(|(turn, factor)| turn / f64::from(*factor)).collect()
            }
            RopeScaling::Llama3 { factor, low_freq_factor, high_freq_factor, original } => {
                let bend = |turn: f64| {
                    let waves = *original as f64 * turn / (2.0 * PI);
                    let kept = (waves - low_freq_factor) / (high_freq_factor - low_freq_factor);
                    let kept = kept.clamp(0.0, 1.0);
                    (1.0 - kept) * turn / factor + kept * turn
                };
                plain.map(bend).collect()
            }
        }
    }

    /// The hash of everything that shapes the computation.
    pub fn hash(&self) -> Hash {
        let text = serde_json::to_vec(self).expect("a config is plain numbers and words");
        Hash::of(&text)
    }

    /// Refuses numbers that contradict each other; `place` is the file they came from.
    pub(in crate::model) fn validated(self, place: &str) -> Result<Self, ModelError> {
        let wrong = |message: String| ModelError::Mismatch {
            place: place.to_owned(),
            message,
            hint: "check the numbers against the checkpoint's model card".into(),
        };
        let sizes = [
            ("hidden size", self.hidden),
            ("intermediate size", self.intermediate),
            ("layers", self.layers),
            ("heads", self.heads),
            ("key/value heads", self.kv_heads),
            ("head_dim", self.head_dim),
            ("vocabulary", self.vocab),
            ("positions", self.max_positions),
        ];
        for (name, size) in sizes {
            if size == 0 || size > 1 << 24 {
                return Err(wrong(format!("{name} of {size} makes no network")));
            }
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            return Err(wrong(format!(
                "{} heads do not share {} key/value heads evenly",
                self.heads, self.kv_heads
            )));
        }
        if self.head_dim % 2 == 1 {
            return Err(wrong(format!("head_dim {} is odd and cannot be rotated", self.head_dim)));
        }
        if self.layers > 1024 {
            return Err(wrong(format!("{} layers are not plausible", self.layers)));
        }
        // Said of what is right, so that a NaN is refused.
        let (eps, theta) = ((0.0..1.0).contains(&self.norm_eps), self.rope_theta > 1.0);
        if !eps || !theta {
            return Err(wrong(format!(
                "norm eps {} or rope theta {} is out of range",
                self.norm_eps, self.rope_theta
            )));
        }
        if let RopeScaling::Factors(factors) = &self.rope_scaling
            && factors.len() != self.head_dim / 2
        {
            return Err(wrong(format!(
                "{} rope factors for {} pairs",
                factors.len(),
                self.head_dim / 2
            )));
        }
        Ok(self)
    }
}
