//! `ask`: a question that only a person can answer.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde::Deserialize;
use serde_json::json;

use super::args::{self, schema};
use super::kit::Kit;
use super::tool::{BadCall, Ran, Tool};
use super::work::{ended, failed};
use crate::base::Stop;
use crate::policy::Footprint;
use crate::session::{Answer, Event, ToolCall, ToolOutcome, ToolSpec};

pub(super) struct Ask;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    text: String,
}

impl Tool for Ask {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ask",
            doc: "Put a question to the person. End the turn after it: the answer is their next words.",
            schema: schema(&[("text", "string", "the question, with what depends on it")]),
        }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        let Args { text } = args::read(call)?;
        if text.trim().is_empty() {
            return Err(BadCall("`ask`: there is no question".into()));
        }
        Ok(Footprint::default())
    }

    fn run(self: Arc<Self>, call: ToolCall, _: Answer, _: Kit, _: Stop) -> BoxFuture<'static, Ran> {
        ready(ended(ask(&call))).boxed()
    }
}

fn ask(call: &ToolCall) -> Result<Ran, ToolOutcome> {
    let Args { text } = args::read(call).map_err(|bad| failed(bad.0))?;
    let told = "asked; end your turn now, the answer comes with the person's next words";
    let noted = Event::Noted { kind: "question".into(), text, artifacts: Vec::new() };
    Ok(Ran::from(ToolOutcome::done(told, json!({}))).with(noted))
}
