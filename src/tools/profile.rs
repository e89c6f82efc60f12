//! `profile`: where the time of a stage goes now, as a step of the trajectory.

use serde::Deserialize;
use serde_json::{Value, json};

use super::hand::{At, Failure, Hand};
use super::programs::{parts, path, read, stage_schema, timed, told};
use super::tool::{BadCall, Ran};
use super::undo::{Stack, since_kept};
use crate::base::Hash;
use crate::model::Stage;
use crate::npu::{Profile, floor};
use crate::pipeline::DECODE_CONTEXT;
use crate::policy::Footprint;
use crate::session::{Event, Profiled, StepKind, ToolOutcome};
use crate::workspace::Patch;

pub(super) struct Profiler;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    stage: Stage,
    kind: StepKind,
    #[serde(default)]
    change: String,
    receipt: Option<Hash>,
}

impl Hand for Profiler {
    type Args = Args;
    const NAME: &'static str = "profile";
    const DOC: &'static str = "Times the program of a stage as it is: dispatch, upload, tile and \
        host. `kind` says which step of the trajectory this is.";
    const REQUIRED: &'static [&'static str] = &["stage", "kind"];

    fn properties() -> Value {
        json!({
            "stage": stage_schema(),
            "kind": { "type": "string",
                      "enum": ["baseline", "tried", "kept", "reverted", "rejected"] },
            "change": { "type": "string", "description": "What was changed, in words." },
            "receipt": { "type": ["string", "null"],
                         "description": "The receipt that let the step stay." },
        })
    }

    fn footprint(args: &Args) -> Result<Footprint, BadCall> {
        let reads = vec![path(args.stage)];
        Ok(Footprint { reads, simulates: true, ..Footprint::default() })
    }

    fn work(args: Args, at: &At<'_>) -> Result<Ran, Failure> {
        let (kit, stage) = (at.kit, args.stage);
        let text = read(kit, stage)?;
        let profile = timed(text.program(), kit);
        let tokens = match stage {
            Stage::Prefill => text.program().seq,
            Stage::Decode => DECODE_CONTEXT,
        };
        let floor_us = floor(&kit.outline()?, &kit.array(), stage, tokens).total_us();
        for sample in profile.timeline(SHOWN_LAYERS) {
            kit.progress.sample(&sample);
        }
        let headline = format!("{stage} {:.3} ms, predicted", profile.total_us() / 1e3);
        let bytes = serde_json::to_vec(&whole(&profile, floor_us))?;
        let kept = kit.artifacts.put("profile", &headline, &bytes)?;
        let mut artifacts = vec![kept.clone()];
        let diff = match args.kind {
            StepKind::Tried | StepKind::Kept => since_kept(kit, stage, text.text())?,
            _ => None,
        };
        if matches!(args.kind, StepKind::Baseline | StepKind::Kept) {
            Stack::open(kit, stage)?.keep(kit, text.text())?;
        }
        let diff = match diff.filter(|patch| !patch.is_empty()) {
            Some(patch) => Some(put(at, &patch)?),
            None => None,
        };
        artifacts.extend(diff.clone());
        let snapshot = kit.freeze()?.hash().clone();
        let mut value = told(&profile);
        value["stage"] = json!(stage);
        value["kind"] = json!(args.kind);
        value["change"] = json!(args.change);
        value["floor_us"] = json!(floor_us);
        value["kernels"] = kernels(&profile);
        let profiled = Profiled {
            stage: stage.to_string(),
            kind: args.kind,
            change: args.change,
            cost: parts(&profile),
            floor_us,
            dispatches_per_layer: profile.dispatches_per_layer as f64,
            error_percent: profile.calibration_error_pct,
            snapshot,
            profile: Some(kept.hash),
            diff: diff.map(|diff| diff.hash),
            receipt: args.receipt,
        };
        let shares = profile.cost.categories();
        let shares = shares.map(|(name, us)| format!("{name} {:.3}", us / 1e3)).join(", ");
        let text = format!("{headline} ({shares}); floor {:.3} ms", floor_us / 1e3);
        let outcome = ToolOutcome::Done { text, value, artifacts };
        Ok(Ran::from(outcome).with(Event::Profiled(Box::new(profiled))))
    }
}

/// Layers that a timeline shows: they are all alike.
const SHOWN_LAYERS: usize = 2;

/// What the profile pane draws.
fn whole(profile: &Profile, floor_us: f64) -> Value {
    let mut whole = json!(profile);
    whole["total_us"] = json!(profile.total_us());
    whole["floor_us"] = json!(floor_us);
    whole["timeline"] = json!(profile.timeline(SHOWN_LAYERS));
    whole
}

/// The kernels that take most.
fn kernels(profile: &Profile) -> Value {
    let rows = profile.kernels.iter().take(5).map(|row| {
        json!({ "kernel": row.kernel, "on_array": row.on_array, "calls": row.calls,
                "total_us": row.total_us() })
    });
    rows.collect()
}

fn put(at: &At<'_>, patch: &Patch) -> Result<crate::session::Artifact, Failure> {
    Ok(at.kit.artifacts.put("diff", patch.headline(), &patch.to_bytes())?)
}
