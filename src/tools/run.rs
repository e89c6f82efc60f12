//! `run`: a command in the sandbox, with limits of time and output.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use super::args::{self, schema};
use super::kit::Kit;
use super::tool::{BadCall, Ran, Tool};
use super::work::{ended, failed};
use crate::base::{FileError, Stop, shorten};
use crate::policy::Footprint;
use crate::session::{ARTIFACT_FROM, Answer, ToolCall, ToolOutcome, ToolSpec};
use crate::workspace::{Command, End, PRIVATE, Sandbox};

/// The longest that a command may take, and the most that is kept of each of its streams.
const TIME: Duration = Duration::from_mins(10);
const OUTPUT: usize = 1 << 20;

pub(super) struct Run;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    command: Vec<String>,
}

fn read(call: &ToolCall) -> Result<Vec<String>, BadCall> {
    let Args { command } = args::read(call)?;
    match command.first() {
        Some(program) if !program.trim().is_empty() => Ok(command),
        _ => Err(BadCall("`run`: the command has no words".into())),
    }
}

impl Tool for Run {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "run",
            doc: "Run a command without a shell, in a sandbox: it reads the workspace, writes only \
                  in the folders of it, and has no network.",
            schema: schema(&[("command", "string[]", "the program and its arguments")]),
        }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        Ok(Footprint { runs: Some(read(call)?), ..Footprint::default() })
    }

    fn run(
        self: Arc<Self>,
        call: ToolCall,
        _: Answer,
        kit: Kit,
        stop: Stop,
    ) -> BoxFuture<'static, Ran> {
        async move { ended(run(&call, &kit, &stop).await) }.boxed()
    }
}

async fn run(call: &ToolCall, kit: &Kit, stop: &Stop) -> Result<Ran, ToolOutcome> {
    let words = read(call).map_err(|bad| failed(bad.0))?;
    let root = kit.workspace.root();
    let scratch = tempfile::tempdir().map_err(FileError::at("create", root)).map_err(failed)?;
    let home = scratch.path().display().to_string();
    let command = Command::new(&words, root)
        .variable("TMPDIR", home.as_str())
        .variable("HOME", home.as_str())
        .sandbox(sandbox(kit).write(scratch.path()))
        .time(TIME)
        .output(OUTPUT);
    let progress = kit.progress.clone();
    let heard = move |_, bytes: &[u8]| progress.say(&String::from_utf8_lossy(bytes));
    let finished = command.run(stop, heard).await.map_err(failed)?;
    if finished.end == End::Stopped {
        return Err(ToolOutcome::Stopped);
    }
    // What a reader wants first is how it ended, then what it said.
    let said = [&finished.out[..], &finished.err[..]].concat();
    let said = String::from_utf8_lossy(&said);
    let ended = format!("`{}` {} · {}", words.join(" "), finished.end, finished.confined);
    let (code, is_success) = match finished.end {
        End::Exited(code) => (Some(code), code == 0),
        _ => (None, false),
    };
    let value = json!({
        "code": code,
        "left_out": finished.left_out,
        "sandbox": finished.confined.to_string(),
    });
    let (text, artifacts) = if said.len() < ARTIFACT_FROM {
        (format!("{ended}\n{}", said.trim_end()), Vec::new())
    } else {
        let kept = kit.keep("output", &ended, said.as_bytes())?;
        (format!("{ended}\n{}", shorten(&said, 4000)), vec![kept])
    };
    let text = text.trim_end().to_owned();
    if is_success {
        return Ok(ToolOutcome::Done { text, value, artifacts }.into());
    }
    Ok(ToolOutcome::Failed { text, value }.into())
}

/// The workspace to read, its folders to write: not its root, where the documents and settings
/// are, and nothing of ours.
fn sandbox(kit: &Kit) -> Sandbox {
    let root = kit.workspace.root();
    let programs = std::env::var_os("PATH").unwrap_or_default();
    let programs: Vec<PathBuf> = std::env::split_paths(&programs).collect();
    let mut sandbox = programs.into_iter().fold(Sandbox::new().read(root), Sandbox::read);
    for item in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let is_ours = item.file_name() == PRIVATE || item.file_name() == ".git";
        if !is_ours && item.file_type().is_ok_and(|kind| kind.is_dir()) {
            sandbox = sandbox.write(item.path());
        }
    }
    sandbox
}
