//! Phase 0: what is deployed, all of it, and a CPU reference that can be trusted.

use crate::base::Finding;
use crate::model::{Cache, Held, Logits, ModelError, Oracle, Stage, greedy, reference};
use crate::npu::floor as lower_bound;
use crate::pipeline::case::Case;
use crate::pipeline::deployment::outline;
use crate::pipeline::evidence::DECODE_CONTEXT;
use crate::pipeline::gate::Judgement;
use crate::pipeline::metric::{Bound, hard, recorded};
use crate::pipeline::prompts::{SHORT, text};
use crate::tensor::{Comparison, Trace};

/// One nanosecond: no stage of any network takes less, and its margin is a number that can be
/// written down.
const SHORTEST_US: f64 = 1e-3;

pub(super) fn scope(case: &Case) -> Judgement {
    let model = match case.sources().deployment.model() {
        Ok(model) => model,
        Err(why) => return Judgement::failed(why),
    };
    let config = serde_json::to_value(&model.config).unwrap_or_default();
    let fields = config.as_object().cloned().unwrap_or_default();
    // Only an optional id of the vocabulary may be absent; all else is resolved or refused.
    let open = fields.iter().filter(|(key, value)| value.is_null() && key.as_str() != "bos");
    let open: Vec<String> = open.map(|(key, _)| key.clone()).collect();
    let mut judgement = Judgement {
        cases: fields.len(),
        metrics: vec![
            hard("in_scope", 1.0, Bound::Exactly(1.0)),
            hard("unresolved", open.len() as f64, Bound::Exactly(0.0)),
            recorded("fields", fields.len() as f64),
            recorded("parameters", model.config.parameters() as f64),
        ],
        headline: format!(
            "{}: {} layers of {}, {} and {} heads of {}",
            model.config.family,
            model.config.layers,
            model.config.hidden,
            model.config.heads,
            model.config.kv_heads,
            model.config.head_dim
        ),
        findings: model.findings.clone(),
        ..Judgement::default()
    };
    judgement.notes.push(("config", config.to_string()));
    if !open.is_empty() {
        judgement.notes.push(("unresolved", open.join(", ")));
    }
    judgement
}

/// A table that is made from the config wherever it is needed, and may lie in a file as well.
fn is_derived(held: &Held) -> bool {
    held.role.is_none() && ["rope_freqs", "inv_freq"].iter().any(|part| held.name.contains(part))
}

/// A head of its own beside a tied embedding: read by nobody, said to everybody.
fn is_tied_copy(held: &Held, tied: bool) -> bool {
    tied && held.role == Some(crate::model::Role::Output)
}

pub(super) fn weights(case: &Case) -> Judgement {
    let model = match case.sources().deployment.model() {
        Ok(model) => model,
        Err(why) => return Judgement::failed(why),
    };
    let cut = |held: &Held| held.layer.is_some_and(|layer| layer >= model.config.layers);
    let tied = model.config.tied;
    let (mut used, mut strangers, mut findings) = (0, Vec::new(), Vec::new());
    for held in model.weights.inventory() {
        if held.used {
            used += 1;
        } else if is_tied_copy(held, tied) {
            let words = "a head beside a tied embedding is not read";
            findings.push(Finding::warning(&held.name, words).rule("weights"));
        } else if !is_derived(held) && !cut(held) {
            strangers.push(held.name.clone());
        }
    }
    let config = &model.config;
    let wanted: usize = crate::model::Role::ALL
        .into_iter()
        .filter(|role| role.is_in(config))
        .map(|role| if role.is_per_layer() { config.layers } else { 1 })
        .sum();
    let missing = wanted.saturating_sub(used);
    let headline = match strangers.first() {
        None => format!("{used} tensors, each used once; provenance {}", case.provenance()),
        Some(first) => format!("{} tensors have no use, the first is `{first}`", strangers.len()),
    };
    Judgement {
        cases: used,
        metrics: vec![
            hard("missing", missing as f64, Bound::Exactly(0.0)),
            hard("unused", strangers.len() as f64, Bound::Exactly(0.0)),
            hard("newly_initialised", 0.0, Bound::Exactly(0.0)),
            recorded("tensors", used as f64),
            recorded("bytes", model.weights.bytes() as f64),
        ],
        headline,
        findings,
        ..Judgement::default()
    }
    .note("provenance", case.provenance())
}

pub(super) fn oracle(case: &Case) -> Judgement {
    let oracle = case.sources().oracle().cloned();
    match oracle.and_then(|oracle| agreement(case, &oracle)) {
        Ok(judgement) => judgement,
        Err(why) => Judgement::failed(why),
    }
}

/// Oracle and reference on the canonical prompts, layer by layer. The reference is a second forward
/// pass in f64 that shares the bytes of the weights with the oracle and nothing else.
fn agreement(case: &Case, oracle: &Oracle) -> Result<Judgement, String> {
    let sources = case.sources();
    let model = sources.deployment.model()?;
    let error = |error: ModelError| error.to_string();
    let mut judgement = Judgement::default();
    let (mut layers, mut logits, mut same, mut non_finite) = (Vec::new(), Vec::new(), 0, 0);
    for words in SHORT {
        sources.progress.say(&format!("the reference reads: {words}"));
        let prompt = text(model, words, case.seed())?;
        let (mut shown, mut seen) =
            (Trace::of(["layers.*.hidden"]), Trace::of(["layers.*.hidden"]));
        let expected = reference(model, &prompt.ids, &mut shown).map_err(error)?;
        let mut cache = Cache::new(oracle.config(), prompt.ids.len());
        let got = oracle.prefill(&prompt.ids, Logits::All, &mut cache, &mut seen).map_err(error)?;
        for index in 0..model.config.layers {
            let name = format!("layers.{index}.hidden");
            let (Some(expected), Some(got)) = (shown.get(&name), seen.get(&name)) else {
                return Err(format!("one of them shows no `{name}`"));
            };
            let compared = Comparison::with_worst(&expected.data, &got.data, 0);
            non_finite += compared.non_finite;
            layers.push((compared.cosine, compared.rel_l2));
        }
        for row in 0..expected.rows() {
            let compared = Comparison::with_worst(expected.row(row), got.row(row), 0);
            non_finite += compared.non_finite;
            logits.push((compared.cosine, compared.rel_l2));
        }
        same += usize::from(greedy(expected.last()) == greedy(got.last()));
        judgement.cases += prompt.ids.len();
    }
    let least = |of: &[(f64, f64)]| of.iter().map(|(cosine, _)| *cosine).fold(1.0, f64::min);
    let most = |of: &[(f64, f64)]| of.iter().map(|(_, error)| *error).fold(0.0, f64::max);
    judgement.metrics = vec![
        hard("layer_cosine", least(&layers), case.at_least("oracle", "layer_cosine", 0.99)),
        hard("logits_cosine", least(&logits), case.at_least("oracle", "logits_cosine", 0.999)),
        hard("rel_l2", most(&layers).max(most(&logits)), case.at_most("oracle", "rel_l2", 1e-4)),
        hard("top1", same as f64, Bound::Exactly(SHORT.len() as f64)),
        hard("non_finite", non_finite as f64, Bound::Exactly(0.0)),
    ];
    judgement.headline = format!(
        "against a second forward in f64: least layer cosine {:.8}, relative L2 at most {:.1e}",
        least(&layers),
        most(&layers).max(most(&logits))
    );
    Ok(judgement.note("reference", "second"))
}

pub(super) fn floor(case: &Case) -> Judgement {
    let deployment = &case.sources().deployment;
    let model = match deployment.model() {
        Ok(model) => model,
        Err(why) => return Judgement::failed(why),
    };
    let outline = outline(model);
    let mut judgement = Judgement::default();
    let mut words = Vec::new();
    for (stage, tokens) in
        [(Stage::Prefill, deployment.settings.seq), (Stage::Decode, DECODE_CONTEXT)]
    {
        let floor = lower_bound(&outline, &deployment.array, stage, tokens);
        judgement.metrics.extend([
            hard(format!("{stage}_us"), floor.total_us(), Bound::AtLeast(SHORTEST_US)),
            recorded(format!("{stage}_bytes"), floor.bytes),
            recorded(format!("{stage}_flops"), floor.flops),
            recorded(format!("{stage}_memory_us"), floor.memory_us),
            recorded(format!("{stage}_compute_us"), floor.compute_us),
        ]);
        words.push(format!("{stage} at least {:.3} ms at {tokens} tokens", floor.total_us() / 1e3));
        judgement.cases += 1;
    }
    let weights = 2.0 * model.config.parameters() as f64;
    judgement.metrics.push(recorded("weight_bytes", weights));
    judgement.headline = words.join(", ");
    judgement
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::base::Progress;
    use crate::model::Fault;
    use crate::pipeline::frozen::Frozen;
    use crate::session::Phase;

    /// A mistake in any operator of the oracle, however small, makes the gate fail.
    #[test]
    fn every_operator_of_the_oracle_is_seen() {
        for model in ["tiny-llama", "tiny-qwen2", "tiny-qwen3"] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("pilotfish.toml"), format!("model = {model:?}\n"))
                .unwrap();
            let frozen = Frozen::of(folder.path()).unwrap();
            let case = Case::open(frozen, Phase::Reference, 0, Progress::silent()).unwrap();
            let Ok(model) = case.sources().deployment.model().cloned() else { continue };
            let honest = Oracle::new(Arc::clone(&model)).unwrap();
            assert!(agreement(&case, &honest).unwrap().margin() >= 0.0);
            let mut faults = vec![Fault::Unmasked, Fault::Unrotated];
            let biased = ["q_proj", "k_proj", "v_proj"].map(|name| (name, model.config.qkv_bias));
            let normed = ["q_norm", "k_norm"].map(|name| (name, model.config.qk_norm));
            let always = [
                "attn_norm",
                "q",
                "k",
                "v",
                "q_rope",
                "k_rope",
                "attn",
                "o",
                "attn_out",
                "ffn_norm",
                "gate",
                "up",
                "silu_mul",
                "down",
                "hidden",
            ];
            let there = biased.into_iter().chain(normed).filter(|(_, there)| *there);
            for name in always.into_iter().chain(there.map(|(name, _)| name)) {
                faults.push(Fault::Roll { at: format!("layers.1.{name}") });
                // A norm of each head takes a scale away again.
                if !(model.config.qk_norm && ["q", "k"].contains(&name)) {
                    faults.push(Fault::Scale { at: format!("layers.1.{name}"), by: 1.02 });
                }
            }
            faults
                .extend(["embed", "final_norm", "logits"].map(|at| Fault::Roll { at: at.into() }));
            for fault in faults {
                let oracle = Oracle::new(Arc::clone(&model)).unwrap().with_fault(fault.clone());
                let margin = agreement(&case, &oracle).unwrap().margin();
                assert!(margin < 0.0, "{fault:?}: {margin}");
            }
        }
    }
}
