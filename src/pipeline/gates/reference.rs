//! Phase 0: what is deployed, all of it, and a CPU reference that can be trusted.

use crate::base::Finding;
use crate::model::{Held, Stage};
use crate::npu::floor as lower_bound;
use crate::pipeline::case::Case;
use crate::pipeline::deployment::outline;
use crate::pipeline::gate::Judgement;
use crate::pipeline::metric::{Bound, hard, recorded};

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

pub(super) fn oracle(_case: &Case) -> Judgement {
    Judgement::blocked("there is no independent reference to compare the oracle with")
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
        [(Stage::Prefill, deployment.settings.seq), (Stage::Decode, deployment.settings.seq)]
    {
        let floor = lower_bound(&outline, &deployment.array, stage, tokens);
        judgement.metrics.extend([
            hard(format!("{stage}_us"), floor.total_us(), Bound::AtLeast(f64::MIN_POSITIVE)),
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
