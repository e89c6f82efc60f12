//! `skill`: the words of a skill, when a mind wants them.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde::Deserialize;
use serde_json::json;

use super::args::{self, schema};
use super::kit::Kit;
use super::tool::{BadCall, Ran, Tool};
use super::work::{ended, failed};
use crate::base::{Stop, nearest};
use crate::policy::Footprint;
use crate::session::{Answer, ToolCall, ToolOutcome, ToolSpec};

pub(super) struct Skill;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    name: String,
}

impl Tool for Skill {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "skill",
            doc: "Read a skill: how something is done here, and what to beware of.",
            schema: schema(&[("name", "string", "such as `opt-merge-dispatches`")]),
        }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        let Args { .. } = args::read(call)?;
        Ok(Footprint::default())
    }

    fn run(
        self: Arc<Self>,
        call: ToolCall,
        _: Answer,
        kit: Kit,
        _: Stop,
    ) -> BoxFuture<'static, Ran> {
        ready(ended(skill(&call, &kit))).boxed()
    }
}

fn skill(call: &ToolCall, kit: &Kit) -> Result<Ran, ToolOutcome> {
    let Args { name } = args::read(call).map_err(|bad| failed(bad.0))?;
    let Some(skill) = kit.skills.find(&name) else {
        let known = kit.skills.skills().iter().map(|skill| skill.name.as_str());
        let near = nearest(&name, known).map(|near| format!("; did you mean `{near}`?"));
        return Err(failed(format!("no skill is called `{name}`{}", near.unwrap_or_default())));
    };
    let value = json!({ "name": skill.name, "moves": skill.moves });
    Ok(ToolOutcome::done(skill.body.trim(), value).into())
}
