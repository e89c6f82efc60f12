//! `read`: some lines of a file.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use super::args::{self, schema};
use super::kit::Kit;
use super::tool::{BadCall, Ran, Tool};
use super::work::{apart, ended, failed};
use crate::base::Stop;
use crate::policy::Footprint;
use crate::session::{ARTIFACT_FROM, Answer, ToolCall, ToolOutcome, ToolSpec};
use crate::workspace::Path;

/// Lines that are read if the call does not say how many.
const LINES: usize = 400;

pub(super) struct Read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: Path,
    #[serde(default = "first")]
    from: usize,
    #[serde(default = "some")]
    lines: usize,
}

fn first() -> usize {
    1
}

fn some() -> usize {
    LINES
}

impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read",
            doc: "Read a text file of the workspace, or some of its lines.",
            schema: schema(&[
                ("path", "string", "from the root of the workspace"),
                ("from?", "integer", "the first line, counted from 1"),
                ("lines?", "integer", "how many lines; 400 if not said"),
            ]),
        }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        let Args { path, .. } = args::read(call)?;
        Ok(Footprint { reads: vec![path], ..Footprint::default() })
    }

    fn run(
        self: Arc<Self>,
        call: ToolCall,
        _: Answer,
        kit: Kit,
        _: Stop,
    ) -> BoxFuture<'static, Ran> {
        apart(move || ended(read(&call, &kit)))
    }
}

fn read(call: &ToolCall, kit: &Kit) -> Result<Ran, ToolOutcome> {
    let Args { path, from, lines } = args::read(call).map_err(|bad| failed(bad.0))?;
    let text = kit.workspace.text(&path).map_err(failed)?;
    let total = text.lines().count();
    let from = from.max(1);
    if from > total && total > 0 {
        return Err(failed(format!("`{path}` has {total} lines, none is number {from}")));
    }
    let part: String = text.split_inclusive('\n').skip(from - 1).take(lines).collect();
    let to = (from - 1 + lines).min(total);
    let value = json!({ "path": path, "from": from, "to": to, "lines": total });
    if part.len() < ARTIFACT_FROM {
        return Ok(ToolOutcome::done(part, value).into());
    }
    let headline = format!("`{path}` lines {from} to {to} of {total}");
    let artifacts = vec![kit.keep("text", &headline, part.as_bytes())?];
    let text = format!("{headline}: {} bytes, kept beside the log; read fewer lines", part.len());
    Ok(ToolOutcome::Done { text, value, artifacts }.into())
}
