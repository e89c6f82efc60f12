//! `edit`: one part of a file for another.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::Deserialize;

use super::args::{self, schema};
use super::change::{is_document, replace, replacing, save, saving};
use super::kit::Kit;
use super::tool::{BadCall, Ran, Tool};
use super::work::{apart, ended, failed};
use crate::base::Stop;
use crate::policy::Footprint;
use crate::session::{Answer, ToolCall, ToolOutcome, ToolSpec};
use crate::workspace::{Edit as Change, Patch, Path, substitute};

pub(super) struct Edit;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: Path,
    old: String,
    new: String,
}

impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit",
            doc: "Exchange one part of a file. The old part must be there exactly once.",
            schema: schema(&[
                ("path", "string", "from the root of the workspace"),
                ("old", "string", "the part as it is, with its white space"),
                ("new", "string", "what takes its place"),
            ]),
        }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        let Args { path, .. } = args::read(call)?;
        Ok(Footprint { writes: vec![path], ..Footprint::default() })
    }

    fn preview(&self, call: &ToolCall, kit: &Kit) -> Option<Patch> {
        let Args { path, old, new } = args::read(call).ok()?;
        if is_document(&path) {
            return saving(kit, &path, &Change::Substitute { old, new });
        }
        let text = substitute(&kit.workspace.text(&path).ok()?, &old, &new).ok()?;
        replacing(kit, &path, text.into_bytes())
    }

    fn run(
        self: Arc<Self>,
        call: ToolCall,
        answer: Answer,
        kit: Kit,
        _: Stop,
    ) -> BoxFuture<'static, Ran> {
        apart(move || ended(edit(&call, &answer, &kit)))
    }
}

fn edit(call: &ToolCall, answer: &Answer, kit: &Kit) -> Result<Ran, ToolOutcome> {
    let Args { path, old, new } = args::read(call).map_err(|bad| failed(bad.0))?;
    if is_document(&path) {
        return save(kit, &path, &Change::Substitute { old, new }, answer, "edited");
    }
    let text = kit.workspace.text(&path).map_err(failed)?;
    let text = substitute(&text, &old, &new).map_err(|why| failed(format!("`{path}`: {why}")))?;
    replace(kit, &path, text.into_bytes(), answer, "edited")
}
