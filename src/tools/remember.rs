//! `remember`: a result worth keeping beyond this session.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use super::args::{self, schema};
use super::kit::Kit;
use super::tool::{BadCall, Ran, Tool};
use super::work::{apart, ended, failed};
use crate::base::{FileError, Stop, file};
use crate::policy::Footprint;
use crate::session::{Answer, Event, ToolCall, ToolOutcome, ToolSpec};
use crate::skills::{Memory, Remembered};

/// The most that is read of the file.
const MOST: u64 = 16 << 20;

/// Two calls that add to the file at once would lose one of the lines.
#[derive(Default)]
pub(super) struct Remember(Mutex<()>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    text: String,
}

impl Tool for Remember {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "remember",
            doc: "Keep a result for later deployments, with the receipt that proves it.",
            schema: schema(&[("text", "string", "one line: what, where, how much, which receipt")]),
        }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        let Args { text } = args::read(call)?;
        if text.trim().is_empty() {
            return Err(BadCall("`remember`: there is nothing to remember".into()));
        }
        Ok(Footprint::default())
    }

    fn run(
        self: Arc<Self>,
        call: ToolCall,
        _: Answer,
        kit: Kit,
        _: Stop,
    ) -> BoxFuture<'static, Ran> {
        apart(move || ended(self.remember(&call, &kit)))
    }
}

impl Remember {
    fn remember(&self, call: &ToolCall, kit: &Kit) -> Result<Ran, ToolOutcome> {
        let Args { text } = args::read(call).map_err(|bad| failed(bad.0))?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let _one = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kit.memory.display().to_string();
        let old = match file::read(&kit.memory, MOST) {
            Ok(bytes) => String::from_utf8(bytes).map_err(failed)?,
            Err(error) if error.is_missing() => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let (mut memory, findings) = Memory::parse(&place, &old);
        if let Some(finding) = findings.first() {
            // Writing it anew would lose the line that cannot be read.
            return Err(failed(finding));
        }
        memory.add(Remembered {
            text: text.clone(),
            model: kit.settings.model.clone(),
            ..Remembered::default()
        });
        store(kit, &memory.to_text()).map_err(failed)?;
        let outcome = ToolOutcome::done(format!("remembered: {text}"), json!({ "text": text }));
        Ok(Ran::from(outcome).with(Event::Remembered { text }))
    }
}

fn store(kit: &Kit, text: &str) -> Result<(), FileError> {
    let staging = kit.memory.with_file_name("staging");
    file::replace(&kit.memory, text.as_bytes(), &staging, "tool-write")
}
