//! `list`: the files of the workspace, or of one folder of it.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use super::args::{self, schema};
use super::kit::Kit;
use super::tool::{BadCall, Ran, Tool};
use super::work::{apart, ended, failed};
use crate::base::{Stop, plural};
use crate::policy::Footprint;
use crate::session::{Answer, ToolCall, ToolOutcome, ToolSpec};
use crate::workspace::Path;

/// The most that are named.
const MOST: usize = 300;

pub(super) struct List;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default, deserialize_with = "args::place")]
    path: Option<Path>,
}

impl Tool for List {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list",
            doc: "List the files of the workspace, or of one folder.",
            schema: schema(&[("path?", "string", "a folder; the whole workspace if not said")]),
        }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        let Args { path } = args::read(call)?;
        Ok(Footprint { reads: path.into_iter().collect(), ..Footprint::default() })
    }

    fn run(
        self: Arc<Self>,
        call: ToolCall,
        _: Answer,
        kit: Kit,
        _: Stop,
    ) -> BoxFuture<'static, Ran> {
        apart(move || ended(list(&call, &kit)))
    }
}

fn list(call: &ToolCall, kit: &Kit) -> Result<Ran, ToolOutcome> {
    let Args { path: folder } = args::read(call).map_err(|bad| failed(bad.0))?;
    let mut files = kit.workspace.list().map_err(failed)?;
    if let Some(folder) = &folder {
        files.retain(|path| path.matches(folder.as_str()));
        if files.is_empty() {
            return Err(failed(format!("there is no file in `{folder}`")));
        }
    }
    let count = files.len();
    files.truncate(MOST);
    let mut lines: Vec<String> = files.iter().map(ToString::to_string).collect();
    if count > MOST {
        lines.push(format!("… {} in all; name a folder", plural(count, "file")));
    }
    let value = json!({ "files": files, "count": count });
    Ok(ToolOutcome::done(lines.join("\n"), value).into())
}
