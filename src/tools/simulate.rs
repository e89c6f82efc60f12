//! `simulate`: a prompt and some tokens through the programs as they are, on the simulator.

use serde::Deserialize;
use serde_json::{Value, json};

use super::hand::{At, Failure, Hand};
use super::programs::path;
use super::tool::{BadCall, Ran};
use crate::base::plural;
use crate::model::{Model, Stage, Workload};
use crate::npu::Array;
use crate::policy::Footprint;
use crate::session::ToolOutcome;
use crate::target::{Run, Sim, Target, TargetError};

pub(super) struct Simulate;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    tokens: Option<usize>,
    prompt: Option<String>,
}

/// The prompt that published deployments are tried with.
const PROMPT: &str = "The capital of France is";

impl Hand for Simulate {
    type Args = Args;
    const NAME: &'static str = "simulate";
    const DOC: &'static str = "Runs a prompt through both programs on the simulator and decodes \
        greedily: the text, and what was called how often.";

    fn properties() -> Value {
        json!({
            "tokens": { "type": "integer", "minimum": 1,
                        "description": "What the settings say if left out." },
            "prompt": { "type": "string" },
        })
    }

    fn footprint(_: &Args) -> Result<Footprint, BadCall> {
        let reads = Stage::ALL.map(path).to_vec();
        Ok(Footprint { reads, simulates: true, ..Footprint::default() })
    }

    fn work(args: Args, at: &At<'_>) -> Result<Ran, Failure> {
        let kit = at.kit;
        let model = kit.model()?;
        let words = args.prompt.as_deref().unwrap_or(PROMPT);
        let prompt = read(&model, words, kit.settings.seed)?;
        let tokens = args.tokens.unwrap_or(kit.settings.tokens).max(1);
        let workload = Workload { prompt, tokens };
        let sim = Sim::new(model.clone(), Array::clone(&kit.array()));
        let run = sim.run(&kit.freeze()?, &workload, &[], &kit.progress, at.stop);
        let run = run.map_err(|error| match &error {
            TargetError::Refused { findings } => {
                Failure::of_findings("the programs do not run", findings)
            }
            _ => error.into(),
        })?;
        let said = model.tokenizer.as_ref().map(|tokenizer| tokenizer.decode(&run.tokens));
        let said = said.unwrap_or_else(|| format!("{:?}", run.tokens));
        let text = format!("{words}{said}\n{}, {}", plural(tokens, "token"), counted(&run));
        let value = json!({
            "text": format!("{words}{said}"),
            "prompt": workload.prompt,
            "tokens": run.tokens,
            "counters": run.counters,
        });
        Ok(ToolOutcome::done(text, value).into())
    }
}

/// A text as the model reads it; a model without words gets ids that the seed draws.
fn read(model: &Model, text: &str, seed: u64) -> Result<Vec<u32>, Failure> {
    if let Some(tokenizer) = &model.tokenizer {
        return Ok(tokenizer.encode(text)?);
    }
    let vocab = model.config.vocab.max(1) as u64;
    let drawn =
        |at: u64| seed.wrapping_add(at).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31) % vocab;
    Ok((1..=8).map(|at| drawn(at) as u32).collect())
}

fn counted(run: &Run) -> String {
    let counters = run.counters.clone().unwrap_or_default();
    let (prefill, decode) = (counters.prefill, counters.decode);
    format!(
        "prefill {} and decode {} dispatches a layer, {} calls of the array in all",
        prefill.dispatches_per_layer(),
        decode.dispatches_per_layer(),
        prefill.total.dispatches + decode.total.dispatches,
    )
}
