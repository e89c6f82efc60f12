//! `write_document`: a document, or one part of it; what a person wrote there meanwhile stays.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::Deserialize;

use super::args::{self, schema};
use super::change::{is_document, save, saving};
use super::kit::Kit;
use super::tool::{BadCall, Ran, Tool};
use super::work::{apart, ended, failed};
use crate::base::Stop;
use crate::policy::Footprint;
use crate::session::{Answer, ToolCall, ToolOutcome, ToolSpec};
use crate::workspace::{Edit, Patch, Path};

pub(super) struct WriteDocument;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: Path,
    section: Option<String>,
    mode: Option<String>,
    text: String,
}

fn read(call: &ToolCall) -> Result<(Path, Edit), BadCall> {
    let Args { path, section, mode, text } = args::read(call)?;
    let refuse = |why: String| BadCall(format!("`write_document`: {why}"));
    if !is_document(&path) {
        return Err(refuse(format!("`{path}` is no document (`.md`): use `write` or `edit`")));
    }
    let mode = mode.as_deref().unwrap_or("section");
    let edit = Edit::named(mode, section.as_deref(), &text).map_err(refuse)?;
    Ok((path, edit))
}

impl Tool for WriteDocument {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write_document",
            doc: "Write a document or one section of it. What a person changed meanwhile stays.",
            schema: schema(&[
                ("path", "string", "a markdown file, such as `plan.md`"),
                ("section?", "string", "its heading, such as `## Phases`; made if it is missing"),
                (
                    "mode?",
                    "section|replace|append|tick",
                    "the section, the whole, more at its end, or a task that is done",
                ),
                ("text", "string", "the words; for `tick` those of the task"),
            ]),
        }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        let (path, _) = read(call)?;
        Ok(Footprint { writes: vec![path], ..Footprint::default() })
    }

    fn preview(&self, call: &ToolCall, kit: &Kit) -> Option<Patch> {
        let (path, edit) = read(call).ok()?;
        saving(kit, &path, &edit)
    }

    fn run(
        self: Arc<Self>,
        call: ToolCall,
        answer: Answer,
        kit: Kit,
        _: Stop,
    ) -> BoxFuture<'static, Ran> {
        apart(move || ended(write(&call, &answer, &kit)))
    }
}

fn write(call: &ToolCall, answer: &Answer, kit: &Kit) -> Result<Ran, ToolOutcome> {
    let (path, edit) = read(call).map_err(|bad| failed(bad.0))?;
    save(kit, &path, &edit, answer, "saved")
}
