//! The runs: oracle, target and companion on one prompt, kept on disk by what they hang on.

use std::sync::Arc;

use super::activations::{Activations, Layer, Sides, sinks};
use super::choices::{Spoken, Step};
use crate::model::{Cache as KvCache, Logits, Stage, greedy};
use crate::pipeline::cache::Kept;
use crate::pipeline::companion::{Companion, Tiers};
use crate::pipeline::device::{Device, FINGERPRINT};
use crate::pipeline::prompts::Prompt;
use crate::pipeline::sources::Sources;
use crate::tensor::{Comparison, NoTap, Tensor, Trace};

/// The oracle's own greedy words after a prompt: `logits`, and `keys.N` and `values.N` of all
/// positions that were run.
pub(in crate::pipeline) fn told(
    sources: &Sources,
    prompt: &Prompt,
    steps: usize,
) -> Result<Kept, String> {
    let key = prompt.key(steps);
    sources.cache.get_or("told", &[sources.model_hash().as_str(), key.as_str()], || {
        sources.progress.say(&format!("oracle: {}, {steps} tokens", prompt.name));
        let oracle = sources.oracle()?;
        let error = |error: crate::model::ModelError| error.to_string();
        let config = oracle.config();
        let mut cache = KvCache::new(config, prompt.ids.len() + steps);
        let mut row =
            oracle.prefill(&prompt.ids, Logits::Last, &mut cache, &mut NoTap).map_err(error)?.data;
        let (mut kept, mut logits) = (Kept::default(), Vec::with_capacity(steps * config.vocab));
        loop {
            let next = greedy(&row);
            kept.ids.push(next);
            logits.extend_from_slice(&row);
            if kept.ids.len() >= steps {
                break;
            }
            row = oracle.step(next, &mut cache, &mut NoTap).map_err(error)?;
        }
        kept.tensors.insert("logits".into(), Tensor::new([kept.ids.len(), config.vocab], logits));
        for layer in 0..config.layers {
            let shape = [cache.len(), cache.width()];
            let keys = Tensor::new(shape, cache.keys(layer).to_vec());
            let values = Tensor::new(shape, cache.values(layer).to_vec());
            kept.tensors.insert(format!("keys.{layer}"), keys);
            kept.tensors.insert(format!("values.{layer}"), values);
        }
        Ok(kept)
    })
}

/// The target on the same prompt, fed with these words: what it would have said at each step.
fn answered(sources: &Sources, prompt: &Prompt, words: &[u32]) -> Result<Kept, String> {
    let fed = Prompt { name: String::new(), ids: words.to_vec() };
    let parts = [
        FINGERPRINT,
        sources.model_hash().as_str(),
        sources.programs()?.as_str(),
        prompt.key(words.len()).as_str(),
        fed.key(0).as_str(),
    ]
    .map(str::to_owned);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    sources.cache.get_or("answered", &parts, || {
        sources.progress.say(&format!("target: {}, {} tokens", prompt.name, words.len()));
        let mut device = Device::open(&sources.deployment)?;
        let mut trace = Trace::of(["layers.*.k_rope", "layers.*.v"]);
        let mut logits = device.prefill(&prompt.ids, Logits::Last, &mut trace)?.data;
        for word in words.iter().take(words.len().saturating_sub(1)) {
            logits.extend(device.step(*word, &mut trace)?);
        }
        let vocab = logits.len() / words.len().max(1);
        let mut kept = Kept::default();
        kept.tensors.insert("logits".into(), Tensor::new([words.len(), vocab], logits));
        for layer in 0..sources.deployment.model()?.config.layers {
            for (from, to) in [("k_rope", "keys"), ("v", "values")] {
                if let Some(tensor) = trace.remove(&format!("layers.{layer}.{from}")) {
                    kept.tensors.insert(format!("{to}.{layer}"), tensor);
                }
            }
        }
        kept.texts.insert("counters".into(), device.counters());
        Ok(kept)
    })
}

/// Both sides of one prompt, step by step.
pub(in crate::pipeline) fn spoken(
    sources: &Sources,
    prompt: &Prompt,
    steps: usize,
) -> Result<Spoken, String> {
    let told = told(sources, prompt, steps)?;
    let answered = answered(sources, prompt, &told.ids)?;
    let (expected, got) = (told.tensor("logits")?, answered.tensor("logits")?);
    let rows = (0..expected.rows().min(got.rows())).map(|at| Step {
        position: prompt.ids.len() + at,
        expected: Arc::new(expected.row(at).to_vec()),
        got: Arc::new(got.row(at).to_vec()),
    });
    let layers = sources.deployment.model()?.config.layers;
    let least = |name: &str| {
        let each = (0..layers).map(|layer| {
            let name = format!("{name}.{layer}");
            let (told, got) = (told.tensor(&name)?, answered.tensor(&name)?);
            Ok(closeness(&told.data, &got.data))
        });
        let all: Vec<f64> = each.collect::<Result<_, String>>()?;
        Ok::<_, String>(all.into_iter().fold(1.0, |a, b| if a < b || a.is_nan() { a } else { b }))
    };
    Ok(Spoken {
        name: prompt.name.clone(),
        prompt: prompt.ids.clone(),
        wanted: steps,
        keys: least("keys")?,
        values: least("values")?,
        steps: rows.collect(),
        counters: answered.texts.get("counters").cloned().unwrap_or_default(),
    })
}

/// Cosine; no number where one side is none.
fn closeness(expected: &[f32], got: &[f32]) -> f64 {
    let Comparison { cosine, non_finite, .. } = Comparison::with_worst(expected, got, 0);
    if non_finite > 0 { f64::NAN } else { cosine }
}

/// What the device's rounding alone makes of a prompt: `hidden.N` of every layer, and `logits` of
/// the last position.
fn companion(sources: &Sources, prompt: &Prompt) -> Result<Kept, String> {
    let tiers = Tiers::of(sources.deployment.program(Stage::Prefill)?);
    let (text, key) = (tiers.text(), prompt.key(0));
    let hash = sources.model_hash();
    sources.cache.get_or("companion", &[hash.as_str(), key.as_str(), &text], || {
        sources.progress.say(&format!("companion: {}", prompt.name));
        let model = Arc::clone(sources.deployment.model()?);
        let layers = model.config.layers;
        let error = |error: crate::model::ModelError| error.to_string();
        let companion = Companion::new(model, tiers, prompt.ids.len());
        let mut hidden = companion.embed(&prompt.ids).map_err(error)?;
        let mut kept = Kept::default();
        for layer in 0..layers {
            hidden = companion.layer(layer, &hidden, None).map_err(error)?;
            kept.tensors.insert(format!("hidden.{layer}"), hidden.clone());
        }
        let logits = companion.logits(&hidden).map_err(error)?;
        kept.tensors.insert("logits".into(), Tensor::new([1, logits.len()], logits));
        Ok(kept)
    })
}

/// By how much the device's rounding moves a logit of the last position: root of the mean square.
pub(in crate::pipeline) fn companion_noise(
    sources: &Sources,
    prompt: &Prompt,
    expected: &[f32],
) -> Result<f64, String> {
    let companion = companion(sources, prompt)?;
    let logits = &companion.tensor("logits")?.data;
    Ok(Comparison::with_worst(expected, logits, 0).rmse)
}

const SHOWN: [&str; 4] = ["embed", "layers.*.hidden", "layers.*.k_rope", "layers.*.v"];

fn shown(trace: &Trace) -> Kept {
    let tensors = trace.iter().map(|(name, tensor)| (name.to_owned(), tensor.clone())).collect();
    Kept { tensors, ..Kept::default() }
}

/// Every layer of one prompt as the oracle has it.
fn shown_by_oracle(sources: &Sources, prompt: &Prompt) -> Result<Kept, String> {
    let (hash, key) = (sources.model_hash(), prompt.key(0));
    sources.cache.get_or("shown", &[hash.as_str(), key.as_str()], || {
        sources.progress.say(&format!("oracle, layer by layer: {}", prompt.name));
        let oracle = sources.oracle()?;
        let mut cache = KvCache::new(oracle.config(), prompt.ids.len());
        let mut trace = Trace::of(SHOWN);
        oracle
            .prefill(&prompt.ids, Logits::Last, &mut cache, &mut trace)
            .map_err(|error| error.to_string())?;
        Ok(shown(&trace))
    })
}

/// Whether a position of the oracle's residual stream outgrows the others after some layer.
pub(in crate::pipeline) fn has_sinks(sources: &Sources, prompt: &Prompt) -> Result<bool, String> {
    let expected = shown_by_oracle(sources, prompt)?;
    for layer in 0..sources.deployment.model()?.config.layers {
        if !sinks(expected.tensor(&format!("layers.{layer}.hidden"))?).is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Every layer of one prompt on all three sides.
pub(in crate::pipeline) fn traced(
    sources: &Sources,
    prompt: &Prompt,
) -> Result<Activations, String> {
    let (hash, key) = (sources.model_hash(), prompt.key(0));
    let mut expected = shown_by_oracle(sources, prompt)?;
    let programs = sources.programs()?;
    let parts = [FINGERPRINT, hash.as_str(), programs.as_str(), key.as_str()];
    let mut got = sources.cache.get_or("traced", &parts, || {
        sources.progress.say(&format!("target, layer by layer: {}", prompt.name));
        let mut device = Device::open(&sources.deployment)?;
        let mut trace = Trace::of(SHOWN);
        device.prefill(&prompt.ids, Logits::Last, &mut trace)?;
        Ok::<_, String>(shown(&trace))
    })?;
    let mut emulated = companion(sources, prompt)?;
    let rows = prompt.ids.len();
    let take = |kept: &mut Kept, name: &str| -> Result<Arc<Tensor>, String> {
        let found = kept.tensors.remove(name);
        let tensor = found.ok_or_else(|| format!("the run shows no `{name}`"))?;
        Ok(Arc::new(real(tensor, rows)))
    };
    let before = take(&mut got, "embed").or_else(|_| take(&mut expected, "embed"))?;
    let layers = (0..sources.deployment.model()?.config.layers).map(|index| {
        let mut sides = |name: &str| {
            let name = format!("layers.{index}.{name}");
            Ok::<_, String>(Sides {
                expected: take(&mut expected, &name)?,
                got: take(&mut got, &name)?,
            })
        };
        let (hidden, keys, values) = (sides("hidden")?, sides("k_rope")?, sides("v")?);
        let emulated = take(&mut emulated, &format!("hidden.{index}"))?;
        Ok(Layer { index, hidden, emulated, keys, values })
    });
    let layers = layers.collect::<Result<_, String>>()?;
    Ok(Activations { layers, before })
}

/// Without the rows that only fill up a compiled sequence.
fn real(mut tensor: Tensor, rows: usize) -> Tensor {
    if tensor.rows() > rows && tensor.shape.len() == 2 {
        tensor.data.truncate(rows * tensor.width());
        tensor.shape[0] = rows;
    }
    tensor
}
