//! `search`: the lines of the workspace that match a regular expression.

use std::sync::Arc;

use futures::future::BoxFuture;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::json;

use super::args::{self, schema};
use super::kit::Kit;
use super::tool::{BadCall, Ran, Tool};
use super::work::{apart, ended, failed};
use crate::base::{Stop, shorten};
use crate::policy::Footprint;
use crate::session::{Answer, ToolCall, ToolOutcome, ToolSpec};
use crate::workspace::Path;

/// The most lines that are shown, and the most of one.
const MOST: usize = 100;
const WIDTH: usize = 200;

/// Bounds the memory of a compiled expression; matching takes time with the length of the text.
const SIZE: usize = 1 << 20;

pub(super) struct Search;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    pattern: String,
    #[serde(default, deserialize_with = "args::place")]
    path: Option<Path>,
}

fn read(call: &ToolCall) -> Result<(Regex, Option<Path>), BadCall> {
    let Args { pattern, path } = args::read(call)?;
    let regex = RegexBuilder::new(&pattern).size_limit(SIZE).build();
    let regex = regex.map_err(|error| BadCall(format!("`search`: `{pattern}`: {error}")))?;
    Ok((regex, path))
}

impl Tool for Search {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "search",
            doc: "Find the lines that match a regular expression.",
            schema: schema(&[
                ("pattern", "string", "a regular expression"),
                ("path?", "string", "a file, a folder or a pattern such as `program/*.toml`"),
            ]),
        }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        let (_, path) = read(call)?;
        Ok(Footprint { reads: path.into_iter().collect(), ..Footprint::default() })
    }

    fn run(
        self: Arc<Self>,
        call: ToolCall,
        _: Answer,
        kit: Kit,
        stop: Stop,
    ) -> BoxFuture<'static, Ran> {
        apart(move || ended(search(&call, &kit, &stop)))
    }
}

fn search(call: &ToolCall, kit: &Kit, stop: &Stop) -> Result<Ran, ToolOutcome> {
    let (regex, within) = read(call).map_err(|bad| failed(bad.0))?;
    let (mut found, mut count) = (Vec::new(), 0);
    for path in kit.workspace.list().map_err(failed)? {
        if stop.is_wanted() {
            return Err(ToolOutcome::Stopped);
        }
        if within.as_ref().is_some_and(|within| !path.matches(within.as_str())) {
            continue;
        }
        // What is no text has no lines.
        let Ok(text) = kit.workspace.text(&path) else { continue };
        for (number, line) in text.lines().enumerate().filter(|(_, line)| regex.is_match(line)) {
            count += 1;
            if found.len() < MOST {
                found.push((path.clone(), number + 1, shorten(line, WIDTH)));
            }
        }
    }
    let shown = found.iter().map(|(path, number, line)| format!("{path}:{number}: {line}"));
    let mut shown: Vec<String> = shown.collect();
    match count {
        0 => shown.push("no line matches".into()),
        count if count > MOST => shown.push(format!("… {count} lines in all")),
        _ => (),
    }
    let lines = found
        .iter()
        .map(|(path, number, line)| json!({ "path": path, "line": number, "text": line }));
    let value = json!({ "count": count, "lines": lines.collect::<Vec<_>>() });
    Ok(ToolOutcome::done(shown.join("\n"), value).into())
}
