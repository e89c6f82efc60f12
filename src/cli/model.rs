//! `model`: what a checkpoint is, a shape with seeded weights, and a checkpoint fetched.

use clap::{Args, Subcommand};
use serde_json::json;

use super::error::Problem;
use super::model_fetch::Fetch;
use super::output;
use super::which::Which;
use crate::model::{Model, Provenance, bundled_names, published};

/// Checkpoints: info, synth, fetch
#[derive(Args)]
#[command(after_help = "Exit codes: 0, or 2 for what cannot be read or fetched.\n\nExamples:\n  \
    pilotfish model info tiny-llama\n  pilotfish model synth llama-3.2-1b --seed 1\n  \
    pilotfish model fetch hf:HuggingFaceTB/SmolLM2-135M-Instruct")]
pub(super) struct Models {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What a checkpoint is: its shape, its weights, its tokenizer
    Info {
        /// A bundled name, a folder or a file
        model: String,
        #[arg(long)]
        json: bool,
    },
    /// A shape with seeded weights: nothing is written, the hash tells that it can be made again
    Synth {
        /// A published or bundled name, a folder or a file
        model: String,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Only the first layers
        #[arg(long, value_name = "N")]
        layers: Option<usize>,
        #[arg(long)]
        json: bool,
    },
    Fetch(Fetch),
}

impl Models {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        match self.command {
            Command::Info { model, json } => tell(&Which::open(&model)?, json),
            Command::Synth { model, seed, layers, json } => {
                let mut config = match published(&model) {
                    Some(config) => config,
                    None => Which::open(&model)?.config,
                };
                if let Some(layers) = layers {
                    config.layers = layers.clamp(1, config.layers);
                }
                let model = Model::synthetic(&model, config, seed);
                tell(&model.map_err(|error| Problem::model(&error))?, json)
            }
            Command::Fetch(fetch) => fetch.run(),
        }
    }
}

fn tell(model: &Model, as_json: bool) -> anyhow::Result<u8> {
    let c = &model.config;
    let provenance = match &model.provenance {
        Provenance::Checkpoint => "checkpoint".to_owned(),
        Provenance::Synthetic { seed, .. } => format!("synthetic, seed {seed}"),
        Provenance::Padded { .. } => "padded".to_owned(),
    };
    if as_json {
        output::json(&json!({
            "name": model.name,
            "bundled": bundled_names().contains(&model.name.as_str()),
            "provenance": provenance,
            "config": c,
            "parameters": c.parameters(),
            "weight_bytes": model.weights.bytes(),
            "tokens": model.tokenizer.as_ref().map(crate::model::Tokenizer::len),
            "chat": model.tokenizer.as_ref().is_some_and(crate::model::Tokenizer::has_chat),
            "hash": model.hash(),
            "findings": model.findings,
        }))?;
        return Ok(0);
    }
    output::say(&format!("{}: {} · {provenance}", model.name, c.family));
    output::say(&format!(
        "{} layers, hidden {}, intermediate {}, {} heads × {} ({} key/value), vocabulary {}",
        c.layers, c.hidden, c.intermediate, c.heads, c.head_dim, c.kv_heads, c.vocab
    ));
    let (bias, norm, tied) = (c.qkv_bias, c.qk_norm, c.tied);
    output::say(&format!("QKV bias {bias}, QK norm {norm}, tied head {tied}"));
    output::say(&format!(
        "{:.1} M parameters, {:.1} MB of weights",
        c.parameters() as f64 / 1e6,
        model.weights.bytes() as f64 / 1e6
    ));
    let tokenizer = model.tokenizer.as_ref();
    output::say(&match tokenizer {
        Some(tokenizer) if tokenizer.has_chat() => {
            format!("tokenizer: {} tokens, chat template", tokenizer.len())
        }
        Some(tokenizer) => format!("tokenizer: {} tokens", tokenizer.len()),
        None => "tokenizer: none".to_owned(),
    });
    output::say(&format!("hash {}", model.hash()));
    model.findings.iter().for_each(|finding| output::say(&finding.to_string()));
    Ok(0)
}
