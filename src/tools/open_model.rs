//! `open_model`: the resolved config, what became of the tensors, and where the weights come from.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::hand::{At, Failure, Hand};
use super::tool::{BadCall, Ran};
use crate::base::plural;
use crate::model::{Config, Provenance, RopeScaling};
use crate::policy::Footprint;
use crate::session::ToolOutcome;

pub(super) struct OpenModel;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {}

impl Hand for OpenModel {
    type Args = Args;
    const NAME: &'static str = "open_model";
    const DOC: &'static str =
        "Opens the model of this deployment: its resolved config, its tensors, its provenance.";

    fn properties() -> Value {
        json!({})
    }

    fn footprint(_: &Args) -> Result<Footprint, BadCall> {
        Ok(Footprint::default())
    }

    fn work(_: Args, at: &At<'_>) -> Result<Ran, Failure> {
        at.kit.progress.say("opening the model");
        let model = at.kit.model()?;
        let config = &model.config;
        let provenance = match &model.provenance {
            Provenance::Checkpoint => "checkpoint".to_owned(),
            Provenance::Padded { .. } => "checkpoint, padded".to_owned(),
            Provenance::Synthetic { seed, recipe } => {
                format!("synthetic (seed {seed}, recipe {})", recipe.short())
            }
        };
        let tensors = model.weights.inventory().len();
        let text = format!(
            "{}: {}, {} layers of {} wide, {} and {} heads of {}, {} parameters, {}",
            model.name,
            config.family,
            config.layers,
            config.hidden,
            config.heads,
            config.kv_heads,
            config.head_dim,
            config.parameters(),
            plural(tensors, "tensor"),
        );
        let value = json!({
            "name": model.name,
            "family": config.family.name(),
            "provenance": provenance,
            "parameters": config.parameters(),
            "tensors": tensors,
            "weight_bytes": model.weights.bytes(),
            "tokenizer": model.tokenizer.is_some(),
            "config": fields(config),
            "findings": model.findings,
        });
        Ok(ToolOutcome::done(text, value).into())
    }
}

fn yes_or_no(it: bool) -> &'static str {
    if it { "yes" } else { "no" }
}

/// Every field, resolved, in the order in which people look for them.
fn fields(config: &Config) -> Map<String, Value> {
    let c = config;
    let scaling = match &c.rope_scaling {
        RopeScaling::None => "none".to_owned(),
        RopeScaling::Llama3 { factor, original, .. } => {
            format!("llama3, factor {factor} from {original}")
        }
        RopeScaling::Factors(factors) => format!("{} factors", factors.len()),
    };
    let fields = [
        ("layers", json!(c.layers)),
        ("hidden", json!(c.hidden)),
        ("intermediate", json!(c.intermediate)),
        ("heads", json!(c.heads)),
        ("kv_heads", json!(c.kv_heads)),
        ("head_dim", json!(c.head_dim)),
        ("vocab", json!(c.vocab)),
        ("norm_eps", json!(c.norm_eps.to_string())),
        ("rope_theta", json!(c.rope_theta)),
        ("rope_scaling", json!(scaling)),
        ("head", json!(if c.tied { "the embedding" } else { "its own weights" })),
        ("qkv_bias", json!(yes_or_no(c.qkv_bias))),
        ("qk_norm", json!(yes_or_no(c.qk_norm))),
        ("max_positions", json!(c.max_positions)),
        ("bos", json!(c.bos.map_or("none".to_owned(), |id| id.to_string()))),
        ("eos", json!(c.eos)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
