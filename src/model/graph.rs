//! The network as data: the operators of one layer and of the head, with shapes and sizes.

use serde::Serialize;

use crate::model::{Config, Role};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Embed,
    RmsNorm,
    /// A product with a weight matrix: `m` rows, `k` in, `n` out.
    Gemm,
    BiasAdd,
    /// Norm over each head: `m` rows of `n / k` heads of `k`.
    HeadNorm,
    Rope,
    /// `m` queries on `k` positions of context; `n` is the width of the queries.
    Attention,
    SiluMul,
    Add,
}

/// One operator. Its name is that of its output in traces and programs, without the layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operator {
    pub name: &'static str,
    pub kind: Kind,
    #[serde(skip)]
    pub weight: Option<Role>,
    pub m: usize,
    pub k: usize,
    pub n: usize,
    pub flops: u64,
    /// How many weights it reads; bytes are this times the width of the deployed dtype.
    pub weights: u64,
}

/// `tokens` positions at once, the last of which sees `context` positions (itself included).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Graph {
    pub tokens: usize,
    pub context: usize,
    pub layers: usize,
    /// Before the layers.
    pub embed: Vec<Operator>,
    /// One layer; all are alike.
    pub layer: Vec<Operator>,
    /// After the layers: final norm and the head, of the last position alone.
    pub head: Vec<Operator>,
    /// Elements of keys and values of all layers that are read for the whole context.
    pub kv_elements: u64,
}

impl Graph {
    pub fn of(config: &Config, tokens: usize, context: usize) -> Self {
        let c = config;
        let (m, q, kv) = (tokens, c.q_width(), c.kv_width());
        let mut layer = vec![norm("attn_norm", Role::AttnNorm, m, c.hidden)];
        for (names, weight, bias, n) in [
            (["q", "q_proj"], Role::Q, Role::QBias, q),
            (["k", "k_proj"], Role::K, Role::KBias, kv),
            (["v", "v_proj"], Role::V, Role::VBias, kv),
        ] {
            layer.push(gemm(names[usize::from(c.qkv_bias)], weight, m, c.hidden, n));
            if c.qkv_bias {
                layer.push(Operator {
                    weight: Some(bias),
                    weights: n as u64,
                    ..plain(names[0], Kind::BiasAdd, m, n, 1)
                });
            }
        }
        if c.qk_norm {
            for (name, weight, n) in [("q_norm", Role::QNorm, q), ("k_norm", Role::KNorm, kv)] {
                layer.push(Operator {
                    weight: Some(weight),
                    k: c.head_dim,
                    weights: c.head_dim as u64,
                    ..plain(name, Kind::HeadNorm, m, n, 4)
                });
            }
        }
        layer.push(Operator { k: c.head_dim, ..plain("q_rope", Kind::Rope, m, q, 3) });
        layer.push(Operator { k: c.head_dim, ..plain("k_rope", Kind::Rope, m, kv, 3) });
        // Each query sees the positions before it and itself.
        let seen = (m as u64) * (context as u64) - (m as u64) * (m as u64 - 1) / 2;
        layer.push(Operator {
            k: context,
            flops: 4 * seen * q as u64,
            ..plain("attn", Kind::Attention, m, q, 0)
        });
        layer.push(gemm("o", Role::O, m, q, c.hidden));
        layer.push(plain("attn_out", Kind::Add, m, c.hidden, 1));
        layer.push(norm("ffn_norm", Role::FfnNorm, m, c.hidden));
        layer.push(gemm("gate", Role::Gate, m, c.hidden, c.intermediate));
        layer.push(gemm("up", Role::Up, m, c.hidden, c.intermediate));
        layer.push(plain("silu_mul", Kind::SiluMul, m, c.intermediate, 5));
        layer.push(gemm("down", Role::Down, m, c.intermediate, c.hidden));
        layer.push(plain("hidden", Kind::Add, m, c.hidden, 1));
        let head_weight = if c.tied { Role::Embed } else { Role::Output };
        Self {
            tokens,
            context,
            layers: c.layers,
            embed: vec![Operator {
                weight: Some(Role::Embed),
                weights: (m * c.hidden) as u64,
                ..plain("embed", Kind::Embed, m, c.hidden, 0)
            }],
            layer,
            head: vec![
                norm("final_norm", Role::OutputNorm, 1, c.hidden),
                gemm("logits", head_weight, 1, c.hidden, c.vocab),
            ],
            kv_elements: 2 * (c.layers * context * kv) as u64,
        }
    }

    pub fn flops(&self) -> u64 {
        self.total(|operator| operator.flops)
    }

    /// Weights read by one pass over the whole network.
    pub fn weights(&self) -> u64 {
        self.total(|operator| operator.weights)
    }

    fn total(&self, of: fn(&Operator) -> u64) -> u64 {
        let sum = |operators: &[Operator]| operators.iter().map(of).sum::<u64>();
        sum(&self.embed) + self.layers as u64 * sum(&self.layer) + sum(&self.head)
    }
}

fn plain(name: &'static str, kind: Kind, m: usize, n: usize, flops_each: u64) -> Operator {
    let flops = flops_each * (m * n) as u64;
    Operator { name, kind, weight: None, m, k: n, n, flops, weights: 0 }
}

fn norm(name: &'static str, weight: Role, m: usize, n: usize) -> Operator {
    Operator { weight: Some(weight), weights: n as u64, ..plain(name, Kind::RmsNorm, m, n, 4) }
}

fn gemm(name: &'static str, weight: Role, m: usize, k: usize, n: usize) -> Operator {
    let weights = (k * n) as u64;
    Operator {
        name,
        kind: Kind::Gemm,
        weight: Some(weight),
        m,
        k,
        n,
        flops: 2 * m as u64 * weights,
        weights,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::published;

    #[test]
    fn a_graph_counts_what_the_config_says() {
        let config = published("qwen2.5-0.5b").unwrap();
        let graph = Graph::of(&config, 1, 64);
        let parameters = config.parameters() as u64;
        // Decode reads every weight once and one more row of the embedding.
        assert_eq!(graph.weights(), parameters + config.hidden as u64);
        assert_eq!(graph.kv_elements, 2 * 24 * 64 * 128);
        let names: Vec<_> = graph.layer.iter().map(|operator| operator.name).collect();
        assert_eq!(names[..4], ["attn_norm", "q_proj", "q", "k_proj"]);
        let prefill = Graph::of(&published("qwen3-0.6b").unwrap(), 512, 512);
        assert!(
            prefill.layer.iter().any(|operator| operator.name == "k_norm" && operator.k == 128)
        );
    }
}
