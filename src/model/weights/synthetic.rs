//! Seeded weights for a shape without a checkpoint: drawn when asked for, never written to disk.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::base::{Hash, Hasher};
use crate::model::weights::{Entry, Held, Origin};
use crate::model::{Config, Role};
use crate::tensor::Dtype;
use crate::tensor::round::bf16_rne;

/// The version of everything in this file: part of the hash of a synthetic model.
pub(in crate::model) const RECIPE: &str = "synthetic 1";

/// Values that one stream of random numbers makes.
const CHUNK: usize = 1 << 16;

/// How a tensor is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model) enum Draw {
    /// Normal, with this standard deviation.
    Normal(f32),
    /// About one, a tenth of it as noise.
    Gain,
    /// `± scale`. As the last norm before a tied head it breaks the likeness of a token to itself,
    /// which would make greedy text repeat one token for ever.
    Signs(f32),
}

/// One entry per weight of the network.
///
/// Matrices keep the size of what they multiply; what each layer adds to the residual shrinks with
/// depth; queries are larger, so that attention has something to prefer; logits have a standard
/// deviation of about 5, so that some positions are decisive.
pub(in crate::model) fn synthetic(config: &Config, seed: u64) -> Vec<Entry> {
    let mut entries = Vec::new();
    for role in Role::ALL.into_iter().filter(|role| role.is_in(config)) {
        let layers = if role.is_per_layer() { config.layers } else { 1 };
        for layer in 0..layers {
            let layer = role.is_per_layer().then_some(layer);
            let shape = role.shape(config);
            let name = match layer {
                Some(layer) => format!("layers.{layer}.{role}"),
                None => role.to_string(),
            };
            let bytes = 2 * shape.iter().product::<usize>();
            let dtype = Dtype::BF16;
            let held = Held { name, role: Some(role), layer, dtype, shape, used: true, bytes };
            entries
                .push(Entry { held, origin: Origin::Drawn { seed, scale: scale(role, config) } });
        }
    }
    entries
}

fn scale(role: Role, config: &Config) -> Draw {
    let unit = |width: usize| 1.0 / (width as f32).sqrt();
    let depth = unit(config.layers);
    let hidden = unit(config.hidden);
    match role {
        Role::OutputNorm => Draw::Signs(5.0),
        Role::AttnNorm | Role::FfnNorm | Role::QNorm | Role::KNorm => Draw::Gain,
        Role::Q => Draw::Normal(2.0 * hidden),
        Role::Embed | Role::Output | Role::K | Role::V | Role::Gate | Role::Up => {
            Draw::Normal(hidden)
        }
        Role::QBias | Role::KBias | Role::VBias => Draw::Normal(0.1),
        // An attended value is a mean of several and so smaller than one of them.
        Role::O => Draw::Normal(2.0 * hidden * depth * unit(config.q_width())),
        Role::Down => Draw::Normal(2.0 * hidden * depth * unit(config.intermediate)),
    }
}

/// Fills one tensor with bf16 values. The same for any number of threads.
pub(in crate::model) fn draw(name: &str, seed: u64, scale: Draw, out: &mut [f32]) {
    let start = stream_seed(name, seed);
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(index, chunk)| {
        let mut random = ChaCha8Rng::from_seed(start);
        random.set_stream(index as u64);
        fill(&mut random, scale, chunk);
    });
}

fn stream_seed(name: &str, seed: u64) -> [u8; 32] {
    let mut hasher = Hasher::new();
    hasher.part(RECIPE.as_bytes()).part(&seed.to_le_bytes()).part(name.as_bytes());
    let hash: Hash = hasher.finish();
    let mut bytes = [0; 32];
    for (byte, letter) in bytes.iter_mut().zip(hash.as_str().bytes()) {
        *byte = letter;
    }
    bytes
}

fn fill(random: &mut ChaCha8Rng, scale: Draw, out: &mut [f32]) {
    for value in out {
        // The sum of four uniforms: near enough to normal, and fast enough for billions.
        let mut normal = || {
            let bits: u64 = random.random();
            let part = |shift: u32| (bits >> shift & 0xffff) as f32 / 65_536.0 - 0.5;
            (part(0) + part(16) + part(32) + part(48)) * 1.732_050_8
        };
        *value = bf16_rne(match scale {
            Draw::Normal(deviation) => deviation * normal(),
            Draw::Gain => 1.0 + 0.1 * normal(),
            Draw::Signs(size) => size.copysign(normal()),
        });
    }
}
