//! `npu simulate` of a published network: its published prefill program on seeded weights.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::error::Problem;
use super::exit;
use super::output;
use crate::model::{Cache, Config, Logits, Model, Oracle, Stage, greedy};
use crate::npu::{Array, CALIBRATION_ERROR_PCT, Machine, Outline, SimulateError, cost, structured};
use crate::tensor::{Comparison, NoTap};

/// The seed of weights and prompt.
const SEED: u64 = 1;

/// Runs one prefill and sets its last logits beside those of the FP32 oracle.
pub(super) fn run(
    name: &str,
    mut config: Config,
    seq: usize,
    layers: Option<usize>,
    as_json: bool,
) -> anyhow::Result<u8> {
    config.layers = layers.map_or(config.layers, |n| n.clamp(1, config.layers));
    let outline = Outline::new(name, &config);
    let array = Array::xdna2();
    let program = structured(&outline, &array, Stage::Prefill, seq, seq).map_err(|finding| {
        Problem::usage(finding.to_string(), "ask for 256, 512, 1024 or 2048 tokens")
    })?;
    let vocab = config.vocab;
    let model = Model::synthetic(name, config, SEED).map_err(|error| Problem::model(&error))?;
    let model = Arc::new(model);
    let prompt: Vec<u32> = (0..seq).map(|i| ((i * 7919 + 13) % vocab) as u32).collect();

    let start = Instant::now();
    let machine = Machine::new(&program, None, Arc::clone(&model), &array);
    let mut machine = match machine {
        Ok(machine) => machine,
        Err(SimulateError::Illegal { findings, .. }) => {
            for finding in &findings {
                output::complain(&finding.to_string());
            }
            return Ok(exit::FAILED);
        }
        Err(error) => return Err(Problem::usage(error.to_string(), "")),
    };
    let made = machine.prefill(&prompt, Logits::Last, &mut NoTap);
    let made = made.map_err(|error| Problem::usage(error.to_string(), ""))?;
    let simulated = start.elapsed().as_secs_f64();
    drop(machine);

    let start = Instant::now();
    let oracle = Oracle::new(Arc::clone(&model)).map_err(|error| Problem::model(&error))?;
    let mut cache = Cache::new(oracle.config(), seq);
    let wanted = oracle.prefill(&prompt, Logits::Last, &mut cache, &mut NoTap);
    let wanted = wanted.map_err(|error| Problem::model(&error))?;
    let reference = start.elapsed().as_secs_f64();

    let comparison = Comparison::of(wanted.last(), made.last());
    let [next, oracle_next] = [greedy(made.last()), greedy(wanted.last())];
    let predicted = cost(&program, &array, seq).total_us() / 1e3;
    if as_json {
        output::json(&json!({
            "model": name, "seq": seq, "layers": outline.layers, "seed": SEED,
            "cosine": comparison.cosine, "next": next, "oracle_next": oracle_next,
            "simulated_s": simulated, "oracle_s": reference, "predicted_ms": predicted,
            "calibration_error_pct": CALIBRATION_ERROR_PCT,
        }))?;
        return Ok(0);
    }
    output::say(&format!(
        "{name}: {seq} tokens through {} layers of its published program, weights of seed {SEED}\n\
         last logits: cosine {:.6} to the FP32 oracle; next token {next}, the oracle's {oracle_next}\n\
         simulated in {simulated:.1} s, the oracle took {reference:.1} s\n\
         predicted on the device: {predicted:.2} ms, mean error over published kernels \
         {CALIBRATION_ERROR_PCT} %",
        outline.layers, comparison.cosine,
    ));
    Ok(0)
}
