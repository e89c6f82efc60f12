//! `npu simulate`: a workspace's programs run on a prompt, with the device's rounding.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::error::Problem;
use super::exit;
use super::npu_program::program;
use super::npu_whole;
use super::output;
use crate::model::{Logits, greedy, published};
use crate::npu::{Array, Machine, SimulateError};
use crate::pipeline::open_model;
use crate::tensor::NoTap;
use crate::workspace::{SETTINGS, Settings};

/// Run the programs of a workspace on a prompt, with the device's rounding
#[derive(Args)]
pub(super) struct Simulate {
    /// The folder of a deployment, or a published name: its program on seeded weights
    workspace: PathBuf,
    /// Prompt tokens of a published name
    #[arg(long, value_name = "N", default_value_t = 512)]
    seq: usize,
    /// Layers of a published name, where fewer than all
    #[arg(long, value_name = "N")]
    layers: Option<usize>,
    #[arg(long, value_name = "TEXT", default_value = "At dawn the")]
    prompt: String,
    #[arg(long, value_name = "N", default_value_t = 32)]
    tokens: usize,
    #[arg(long)]
    json: bool,
}

impl Simulate {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        if let Some(name) = self.workspace.to_str()
            && let Some(config) = published(name)
            && !self.workspace.exists()
        {
            return npu_whole::run(name, config, self.seq, self.layers, self.json);
        }
        let place = self.workspace.join(SETTINGS);
        let text = fs::read_to_string(&place).map_err(|error| {
            let what = format!("cannot read `{}`: {error}", place.display());
            Problem::usage(what, "name the folder of a deployment")
        })?;
        let (settings, _) = Settings::parse(&text);
        let model =
            open_model(&settings, &self.workspace).map_err(|error| Problem::model(&error))?;
        let model = Arc::new(model);
        let file = |stage: &str| program(&self.workspace.join(format!("program/{stage}.toml")));
        let (prefill, decode) = (file("prefill")?, file("decode")?);
        let machine = Machine::new(&prefill, Some(&decode), Arc::clone(&model), &Array::xdna2());
        let mut machine = match machine {
            Ok(machine) => machine,
            Err(SimulateError::Illegal { findings, .. }) => {
                for finding in &findings {
                    output::complain(&finding.to_string());
                }
                return Ok(exit::FAILED);
            }
            Err(error) => return Err(told(&error)),
        };
        let Some(tokenizer) = &model.tokenizer else {
            return Err(Problem::usage("the model has no tokenizer: it cannot read a prompt", ""));
        };
        let prompt = tokenizer.encode(&self.prompt).map_err(|error| Problem::model(&error))?;
        let first = machine.prefill(&prompt, Logits::Last, &mut NoTap);
        let mut logits = first.map_err(|error| told(&error))?.last().to_vec();
        let mut ids = Vec::new();
        while ids.len() < self.tokens {
            let next = greedy(&logits);
            ids.push(next);
            if ids.len() < self.tokens {
                logits = machine.step(next, &mut NoTap).map_err(|error| told(&error))?;
            }
        }
        let text = tokenizer.decode(&ids);
        if self.json {
            output::json(&json!({
                "model": model.name, "token_ids": prompt, "generated_ids": ids,
                "generated_text": text, "counters": machine.counters(),
            }))?;
            return Ok(0);
        }
        output::say(&format!("{}{text}", self.prompt));
        let counters = machine.counters();
        for (stage, counts) in [("prefill", &counters.prefill), ("decode", &counters.decode)] {
            output::say(&format!(
                "{stage}: {} calls, {} dispatches and {} host operators in all, {} a layer",
                counts.calls,
                counts.total.dispatches,
                counts.total.host_ops,
                counts.dispatches_per_layer(),
            ));
        }
        Ok(0)
    }
}

fn told(error: &SimulateError) -> anyhow::Error {
    let findings: Vec<String> = error.findings().iter().map(ToString::to_string).collect();
    Problem::usage(if findings.is_empty() { error.to_string() } else { findings.join("\n") }, "")
}
