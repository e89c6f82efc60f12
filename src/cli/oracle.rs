//! `oracle`: what the network itself says, in f32: token ids, logits, greedy continuation.

use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use super::error::Problem;
use super::output;
use super::which::Which;
use crate::model::{self, Cache, Logits, greedy, top};
use crate::tensor::NoTap;

/// The FP32 reference of a model: token ids, logits and greedy continuation of a prompt
#[derive(Args)]
#[command(after_help = "Exit codes: 0, or 2 for what cannot be read.\n\nExamples:\n  \
    pilotfish oracle tiny-llama --prompt \"At dawn\" --tokens 20\n  \
    pilotfish oracle smollm2.gguf --prompt \"The capital of France is\" --top 5 --json")]
pub(super) struct Oracle {
    /// A bundled name, a folder or a file
    model: String,
    /// Tokenised raw: special tokens in it are recognised
    #[arg(long, value_name = "TEXT")]
    prompt: String,
    /// How many tokens to generate
    #[arg(long, value_name = "N", default_value_t = 32)]
    tokens: usize,
    /// How many of the likeliest next tokens to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Go on after an end-of-text token
    #[arg(long)]
    ignore_eos: bool,
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Said {
    model: String,
    token_ids: Vec<u32>,
    top: Vec<Likely>,
    generated_ids: Vec<u32>,
    generated_text: String,
}

#[derive(Serialize)]
struct Likely {
    id: u32,
    token: String,
    logit: f32,
}

impl Oracle {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let said = self.ask()?;
        if self.json {
            output::json(&said)?;
            return Ok(0);
        }
        output::say(&format!("prompt: {} tokens {:?}", said.token_ids.len(), said.token_ids));
        for likely in &said.top {
            output::say(&format!("{:>8}  {:>10.4}  {:?}", likely.id, likely.logit, likely.token));
        }
        output::say(&format!("{}{}", self.prompt, said.generated_text));
        Ok(0)
    }

    fn ask(&self) -> anyhow::Result<Said> {
        let model = Arc::new(Which::open(&self.model)?);
        let Some(tokenizer) = &model.tokenizer else {
            return Err(Problem::usage(
                format!("`{}` has no tokenizer: it cannot read a prompt", self.model),
                "put its `tokenizer.json` beside `config.json`",
            ));
        };
        let told = |error: model::ModelError| Problem::model(&error);
        let token_ids = tokenizer.encode(&self.prompt).map_err(told)?;
        let oracle = model::Oracle::new(Arc::clone(&model)).map_err(told)?;
        let mut cache = Cache::new(&model.config, token_ids.len() + self.tokens);
        let first = oracle.prefill(&token_ids, Logits::Last, &mut cache, &mut NoTap);
        let mut logits = first.map_err(told)?.data;
        let likely = |(id, logit)| {
            let token = tokenizer.token(id).unwrap_or_default();
            Likely { id, token, logit }
        };
        let top = top(&logits, self.top).into_iter().map(likely).collect();
        let mut generated_ids = Vec::new();
        while generated_ids.len() < self.tokens {
            let next = greedy(&logits);
            if model.config.eos.contains(&next) && !self.ignore_eos {
                break;
            }
            generated_ids.push(next);
            if generated_ids.len() < self.tokens {
                logits = oracle.step(next, &mut cache, &mut NoTap).map_err(told)?;
            }
        }
        let generated_text = tokenizer.decode(&generated_ids);
        Ok(Said { model: model.name.clone(), token_ids, top, generated_ids, generated_text })
    }
}
