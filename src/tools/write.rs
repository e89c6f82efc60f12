//! `write`: a whole file.

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
use crate::workspace::{Edit, Patch, Path};

pub(super) struct Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: Path,
    text: String,
}

impl Tool for Write {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write",
            doc: "Write a whole file. A program file is read first, and written in its canonical form.",
            schema: schema(&[
                ("path", "string", "from the root of the workspace"),
                ("text", "string", "all that will be in it"),
            ]),
        }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        let Args { path, .. } = args::read(call)?;
        Ok(Footprint { writes: vec![path], ..Footprint::default() })
    }

    fn preview(&self, call: &ToolCall, kit: &Kit) -> Option<Patch> {
        let Args { path, text } = args::read(call).ok()?;
        if is_document(&path) {
            return saving(kit, &path, &Edit::Replace(text));
        }
        replacing(kit, &path, text.into_bytes())
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
    let Args { path, text } = args::read(call).map_err(|bad| failed(bad.0))?;
    if is_document(&path) {
        return save(kit, &path, &Edit::Replace(text), answer, "written");
    }
    replace(kit, &path, text.into_bytes(), answer, "written")
}
