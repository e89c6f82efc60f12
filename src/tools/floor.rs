//! `floor`: the least time that bytes and operations of the model allow.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::hand::{At, Failure, Hand};
use super::tool::{BadCall, Ran};
use crate::model::Stage;
use crate::npu::{Floor, floor};
use crate::pipeline::DECODE_CONTEXT;
use crate::policy::Footprint;
use crate::session::ToolOutcome;

pub(super) struct Floors;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {}

impl Hand for Floors {
    type Args = Args;
    const NAME: &'static str = "floor";
    const DOC: &'static str = "The lower bound of each stage, from the model's bytes and \
        operations alone. No program can be faster.";

    fn properties() -> Value {
        json!({})
    }

    fn footprint(_: &Args) -> Result<Footprint, BadCall> {
        Ok(Footprint { simulates: true, ..Footprint::default() })
    }

    fn work(_: Args, at: &At<'_>) -> Result<Ran, Failure> {
        let outline = at.kit.outline()?;
        let (mut value, mut lines) = (Map::new(), Vec::new());
        for stage in Stage::ALL {
            let tokens = match stage {
                Stage::Prefill => at.kit.settings.seq,
                Stage::Decode => DECODE_CONTEXT,
            };
            let least = floor(&outline, &at.kit.array(), stage, tokens);
            let bound_by = bound_by(&least);
            lines.push(format!("{stage}: {:.3} ms, bound by {bound_by}", least.total_us() / 1e3));
            let mut row = json!(least);
            row["total_us"] = json!(least.total_us());
            row["bound_by"] = json!(bound_by);
            row["tokens"] = json!(tokens);
            value.insert(stage.to_string(), row);
        }
        Ok(ToolOutcome::done(lines.join("\n"), Value::Object(value)).into())
    }
}

fn bound_by(floor: &Floor) -> &'static str {
    if floor.compute_us > floor.memory_us { "arithmetic" } else { "memory" }
}
