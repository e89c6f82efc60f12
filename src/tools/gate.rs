//! `gate`: asks for a judgement. The evaluator's process makes it; nothing here can.

use serde::Deserialize;
use serde_json::{Value, json};

use super::hand::{At, Failure, Hand};
use super::tool::{BadCall, Ran};
use crate::base::nearest;
use crate::pipeline;
use crate::policy::Footprint;

pub(super) struct Gate;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    id: String,
}

impl Hand for Gate {
    type Args = Args;
    const NAME: &'static str = "gate";
    const DOC: &'static str = "Has a gate judged by the independent evaluator on the files as they \
        are. You learn the verdict, the numbers and the receipt.";
    const REQUIRED: &'static [&'static str] = &["id"];

    fn properties() -> Value {
        let ids: Vec<&str> = pipeline::gates().iter().map(|gate| gate.id).collect();
        json!({ "id": { "type": "string", "enum": ids } })
    }

    fn footprint(args: &Args) -> Result<Footprint, BadCall> {
        if pipeline::gate(&args.id).is_none() {
            let ids = pipeline::gates().iter().map(|gate| gate.id);
            let near = nearest(&args.id, ids).map(|id| format!("; did you mean `{id}`?"));
            let near = near.unwrap_or_default();
            return Err(BadCall(format!("there is no gate `{}`{near}", args.id)));
        }
        Ok(Footprint { judges: Some(args.id.as_str().into()), ..Footprint::default() })
    }

    fn work(args: Args, _: &At<'_>) -> Result<Ran, Failure> {
        Err(format!("`{}` is judged by the evaluator alone", args.id).into())
    }
}
