//! `enter_phase`: the next phase, if the one before it has closed on these files.

use serde::Deserialize;
use serde_json::{Value, json};

use super::hand::{At, Failure, Hand};
use super::tool::{BadCall, Ran};
use crate::pipeline::progress::Standing;
use crate::policy::Footprint;
use crate::session::{Event, Phase, ToolOutcome};

pub(super) struct EnterPhase;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    phase: String,
}

impl Hand for EnterPhase {
    type Args = Args;
    const NAME: &'static str = "enter_phase";
    const DOC: &'static str = "Goes on to a phase. Refused while a gate of the one before it is \
        missing, failed or stale, or its section of `plan.md` is.";
    const REQUIRED: &'static [&'static str] = &["phase"];

    fn properties() -> Value {
        json!({ "phase": { "type": "string", "enum": Phase::ALL.map(Phase::name) } })
    }

    fn footprint(args: &Args) -> Result<Footprint, BadCall> {
        Ok(Footprint { enters: Some(phase(args).map_err(BadCall)?), ..Footprint::default() })
    }

    fn work(args: Args, at: &At<'_>) -> Result<Ran, Failure> {
        let phase = phase(&args)?;
        let standing = Standing::of(at.kit.workspace.root())?;
        let bars = standing.bars(phase);
        if !bars.is_empty() {
            let text = format!("not yet `{phase}`:\n{}", bars.join("\n"));
            let value = json!({ "gates": standing.unproven(phase), "reasons": bars });
            return Err(Failure { text, value });
        }
        let text = format!("phase {} · {}", phase.number(), phase.title());
        let value = json!({ "phase": phase, "number": phase.number() });
        Ok(Ran::from(ToolOutcome::done(text, value)).with(Event::PhaseEntered { phase }))
    }
}

fn phase(args: &Args) -> Result<Phase, String> {
    let named = Phase::parse(&args.phase);
    named.ok_or_else(|| {
        let names = Phase::ALL.map(Phase::name).join(", ");
        format!("`{}` is no phase: one of {names}", args.phase)
    })
}
