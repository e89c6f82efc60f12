//! A second forward pass in f64 and plain loops: what judges the oracle without knowing it.

use std::f64::consts::PI;

use rayon::prelude::*;

use crate::model::unpack::value;
use crate::model::weights::Raw;
use crate::model::{Config, Model, ModelError, Role, RopeScaling};
use crate::tensor::{Tap, Tensor};

/// Runs tokens from position 0 and returns the logits of each, `[tokens, vocab]`.
///
/// It shares only the bytes of the weights with the oracle: blocks, rotary tables, products and
/// norms are written a second time, as the definitions have them. The tap gets the same names, for
/// the points where a layer can be compared: `embed`, `q_rope`, `k_rope`, `attn`, `attn_out`,
/// `hidden`, `final_norm`. Weights are read layer by layer, so little memory is needed.
pub fn reference(model: &Model, tokens: &[u32], tap: &mut dyn Tap) -> Result<Tensor, ModelError> {
    let config = &model.config;
    if tokens.is_empty() || tokens.iter().any(|id| *id as usize >= config.vocab) {
        return Err(ModelError::input(
            "the reference was given no tokens, or one outside the vocabulary",
            "encode the text with the model's tokenizer",
        ));
    }
    let read = Reader { model };
    let embed = read.matrix(Role::Embed, None)?;
    let row = |id: &u32| &embed[*id as usize * config.hidden..][..config.hidden];
    let mut x: Vec<Vec<f64>> = tokens.iter().map(|id| row(id).to_vec()).collect();
    show(tap, "embed", &x);
    let turns = turns(config);
    for index in 0..config.layers {
        let layer = Part { read: &read, config, index, turns: &turns };
        layer.attend(&mut x, tap)?;
        layer.feed_forward(&mut x, tap)?;
    }
    let gain = read.matrix(Role::OutputNorm, None)?;
    let normed = norm(&x, &gain, config);
    show(tap, "final_norm", &normed);
    let head = if config.tied { embed } else { read.matrix(Role::Output, None)? };
    let logits = times(&normed, &head);
    show(tap, "logits", &logits);
    Ok(narrowed(&logits))
}

struct Reader<'a> {
    model: &'a Model,
}

impl Reader<'_> {
    /// A weight in f64, `[out, in]`, with rows in the order of a rotary that turns halves.
    fn matrix(&self, role: Role, layer: Option<usize>) -> Result<Vec<f64>, ModelError> {
        let (dtype, bytes, heads) = match self.model.weights.raw(role, layer)? {
            Raw::Made(tensor) => return Ok(tensor.data.iter().map(|x| f64::from(*x)).collect()),
            Raw::Stored { dtype, bytes, heads } => (dtype, bytes, heads),
        };
        let shape = role.shape(&self.model.config);
        let width = shape.last().copied().unwrap_or(1);
        let mut out = vec![0.0; shape.iter().product()];
        out.par_chunks_mut(width).enumerate().for_each(|(row, out)| {
            let from = match heads {
                Some(heads) if shape.len() == 2 => neighbours(row, shape[0] / heads),
                _ => row,
            };
            for (column, out) in out.iter_mut().enumerate() {
                *out = value(dtype, bytes, from * width + column);
            }
        });
        Ok(out)
    }
}

/// Where a row of ours lies among rows that are stored for a rotary of neighbours.
fn neighbours(row: usize, head_dim: usize) -> usize {
    let (head, at) = (row / head_dim, row % head_dim);
    head * head_dim + 2 * (at % (head_dim / 2)) + at / (head_dim / 2)
}

/// One layer.
struct Part<'a> {
    read: &'a Reader<'a>,
    config: &'a Config,
    index: usize,
    turns: &'a [f64],
}

impl Part<'_> {
    fn weight(&self, role: Role) -> Result<Vec<f64>, ModelError> {
        self.read.matrix(role, Some(self.index))
    }

    fn show(&self, tap: &mut dyn Tap, name: &str, rows: &[Vec<f64>]) {
        show(tap, &format!("layers.{}.{name}", self.index), rows);
    }

    /// `x += O · attention(rope(norm(Q · n)), rope(norm(K · n)), V · n)` with `n = norm(x)`
    fn attend(&self, x: &mut [Vec<f64>], tap: &mut dyn Tap) -> Result<(), ModelError> {
        let c = self.config;
        let n = norm(x, &self.weight(Role::AttnNorm)?, c);
        let mut q = self.project(&n, Role::Q, Role::QBias)?;
        let mut k = self.project(&n, Role::K, Role::KBias)?;
        let v = self.project(&n, Role::V, Role::VBias)?;
        if c.qk_norm {
            head_norm(&mut q, &self.weight(Role::QNorm)?, c);
            head_norm(&mut k, &self.weight(Role::KNorm)?, c);
        }
        rotate(&mut q, self.turns, c.head_dim);
        rotate(&mut k, self.turns, c.head_dim);
        self.show(tap, "q_rope", &q);
        self.show(tap, "k_rope", &k);
        let mixed: Vec<Vec<f64>> = (0..x.len()).map(|at| mix(c, &q[at], &k, &v, at)).collect();
        self.show(tap, "attn", &mixed);
        plus(x, &times(&mixed, &self.weight(Role::O)?));
        self.show(tap, "attn_out", x);
        Ok(())
    }

    fn project(
        &self,
        n: &[Vec<f64>],
        weight: Role,
        bias: Role,
    ) -> Result<Vec<Vec<f64>>, ModelError> {
        let mut out = times(n, &self.weight(weight)?);
        if self.config.qkv_bias {
            let bias = self.weight(bias)?;
            for row in &mut out {
                row.iter_mut().zip(&bias).for_each(|(x, b)| *x += b);
            }
        }
        Ok(out)
    }

    /// `x += Down · (silu(Gate · n) · (Up · n))` with `n = norm(x)`
    fn feed_forward(&self, x: &mut [Vec<f64>], tap: &mut dyn Tap) -> Result<(), ModelError> {
        let n = norm(x, &self.weight(Role::FfnNorm)?, self.config);
        let mut gate = times(&n, &self.weight(Role::Gate)?);
        let up = times(&n, &self.weight(Role::Up)?);
        for (gate, up) in gate.iter_mut().zip(&up) {
            for (g, u) in gate.iter_mut().zip(up) {
                *g = *g / (1.0 + (-*g).exp()) * u;
            }
        }
        plus(x, &times(&gate, &self.weight(Role::Down)?));
        self.show(tap, "hidden", x);
        Ok(())
    }
}

/// `x · wᵀ`, each sum from the first term to the last.
fn times(x: &[Vec<f64>], w: &[f64]) -> Vec<Vec<f64>> {
    let product = |x: &Vec<f64>| {
        let rows = w.par_chunks_exact(x.len());
        rows.map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect()
    };
    x.iter().map(product).collect()
}

fn plus(x: &mut [Vec<f64>], added: &[Vec<f64>]) {
    for (x, added) in x.iter_mut().zip(added) {
        x.iter_mut().zip(added).for_each(|(x, added)| *x += added);
    }
}

fn norm(x: &[Vec<f64>], gain: &[f64], config: &Config) -> Vec<Vec<f64>> {
    let mut out = x.to_vec();
    head_norm(&mut out, gain, config);
    out
}

/// Every run of `gain.len()` values is divided by its root mean square.
fn head_norm(x: &mut [Vec<f64>], gain: &[f64], config: &Config) {
    for part in x.iter_mut().flat_map(|row| row.chunks_exact_mut(gain.len())) {
        let mean = part.iter().map(|x| x * x).sum::<f64>() / gain.len() as f64;
        let root = (mean + f64::from(config.norm_eps)).sqrt();
        part.iter_mut().zip(gain).for_each(|(x, gain)| *x = *x / root * gain);
    }
}

/// The angle of each pair from one position to the next.
fn turns(config: &Config) -> Vec<f64> {
    let mut turns = Vec::new();
    for pair in 0..config.head_dim / 2 {
        let exponent = (2 * pair) as f64 / config.head_dim as f64;
        let plain = 1.0 / config.rope_theta.powf(exponent);
        turns.push(match &config.rope_scaling {
            RopeScaling::None => plain,
            RopeScaling::Factors(factors) => plain / f64::from(factors[pair]),
            // As Llama 3.1's reference code has it: by wavelength.
            RopeScaling::Llama3 { factor, low_freq_factor, high_freq_factor, original } => {
                let (wave, original) = (2.0 * PI / plain, *original as f64);
                if wave < original / high_freq_factor {
                    plain
                } else if wave > original / low_freq_factor {
                    plain / factor
                } else {
                    let smooth =
                        (original / wave - low_freq_factor) / (high_freq_factor - low_freq_factor);
                    (1.0 - smooth) * plain / factor + smooth * plain
                }
            }
        });
    }
    turns
}

fn rotate(x: &mut [Vec<f64>], turns: &[f64], head_dim: usize) {
    for (position, row) in x.iter_mut().enumerate() {
        for head in row.chunks_exact_mut(head_dim) {
            for (pair, turn) in turns.iter().enumerate() {
                let (sin, cos) = (position as f64 * turn).sin_cos();
                let (a, b) = (head[pair], head[pair + head_dim / 2]);
                head[pair] = a * cos - b * sin;
                head[pair + head_dim / 2] = a * sin + b * cos;
            }
        }
    }
}

/// What the query at position `at` takes from the positions up to its own.
fn mix(config: &Config, q: &[f64], k: &[Vec<f64>], v: &[Vec<f64>], at: usize) -> Vec<f64> {
    let d = config.head_dim;
    let mut out = vec![0.0; q.len()];
    for head in 0..config.heads {
        let shared = head / (config.heads / config.kv_heads) * d;
        let q = &q[head * d..(head + 1) * d];
        let mut weights = Vec::with_capacity(at + 1);
        for k in &k[..=at] {
            let dot: f64 = q.iter().zip(&k[shared..shared + d]).map(|(q, k)| q * k).sum();
            weights.push(dot / (d as f64).sqrt());
        }
        let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for w in &mut weights {
            *w = (*w - most).exp();
        }
        let sum: f64 = weights.iter().sum();
        for (weight, v) in weights.iter().zip(v) {
            for (out, v) in out[head * d..(head + 1) * d].iter_mut().zip(&v[shared..shared + d]) {
                *out += weight / sum * v;
            }
        }
    }
    out
}

fn show(tap: &mut dyn Tap, name: &str, rows: &[Vec<f64>]) {
    if tap.wants(name) {
        let tensor = narrowed(rows);
        tap.take(name, &tensor.shape, &tensor.data);
    }
}

fn narrowed(rows: &[Vec<f64>]) -> Tensor {
    let width = rows.first().map_or(0, Vec::len);
    Tensor::new([rows.len(), width], rows.iter().flatten().map(|x| *x as f32).collect::<Vec<_>>())
}
