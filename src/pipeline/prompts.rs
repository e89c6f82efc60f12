//! The prompts of a judgement: one that everybody knows, and one as long as the program allows.

use super::fault::word;
use crate::base::{Hash, Hasher};
use crate::model::{Model, Workload};

/// The one that published deployments are tried with.
pub(super) const CANONICAL: &str = "The capital of France is";

/// Prompts on which an independent reference is asked as well.
pub(super) const SHORT: [&str; 3] = [CANONICAL, "Water freezes at", "The largest ocean is the"];

/// Plain prose of our own: long enough for the tiny models, and repeated for the others.
const PROSE: &str = include_str!("prompt.txt");

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    pub name: String,
    pub ids: Vec<u32>,
}

impl Prompt {
    /// Names everything that a run on it depends on.
    pub(super) fn key(&self, steps: usize) -> Hash {
        Workload { prompt: self.ids.clone(), tokens: steps }.hash()
    }
}

/// A text as the model reads it. Without a tokenizer its ids are drawn from the seed.
pub(super) fn text(model: &Model, text: &str, seed: u64) -> Result<Prompt, String> {
    let ids = match &model.tokenizer {
        Some(tokenizer) if !model_is_made_up(model) => {
            tokenizer.encode(text).map_err(|error| error.to_string())?
        }
        _ => drawn(model, text.split(' ').count(), seed),
    };
    if ids.is_empty() {
        return Err(format!("`{text}` makes no tokens"));
    }
    Ok(Prompt { name: text.into(), ids })
}

/// Exactly so many tokens of prose; the seed chooses where it begins.
pub(super) fn long(model: &Model, tokens: usize, seed: u64) -> Result<Prompt, String> {
    let name = format!("{tokens} tokens, seed {seed}");
    let Some(tokenizer) = model.tokenizer.as_ref().filter(|_| !model_is_made_up(model)) else {
        return Ok(Prompt { name, ids: drawn(model, tokens, seed) });
    };
    let sentences: Vec<&str> = PROSE.split_inclusive(['.', '\n']).collect();
    let first = word(seed, 0) as usize % sentences.len();
    let turned = if seed == 0 { 0 } else { first };
    let text: String = sentences[turned..].iter().chain(&sentences[..turned]).copied().collect();
    let once = tokenizer.encode(text.trim_start()).map_err(|error| error.to_string())?;
    if once.is_empty() {
        return Err("the tokenizer makes no tokens of plain prose".into());
    }
    Ok(Prompt { name, ids: once.iter().copied().cycle().take(tokens).collect() })
}

fn model_is_made_up(model: &Model) -> bool {
    matches!(model.provenance, crate::model::Provenance::Synthetic { .. })
}

/// Ids without a meaning: for weights without one.
fn drawn(model: &Model, tokens: usize, seed: u64) -> Vec<u32> {
    let vocab = model.config.vocab as u64;
    (0..tokens).map(|at| (u64::from(word(seed, 1 + at as u64)) % vocab) as u32).collect()
}

/// A seed that nobody could know before these files were frozen.
pub(super) fn hidden_seed(snapshot: &Hash, seed: u64) -> u64 {
    let mut hasher = Hasher::new();
    hasher.part(b"reveal").part(snapshot.as_str().as_bytes()).part(&seed.to_le_bytes());
    u64::from_str_radix(&hasher.finish().as_str()[..15], 16).unwrap_or(1).max(1)
}
