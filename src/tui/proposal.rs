//! What a waiting call would change, as a difference a person can read before it happens.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::widget::{Change, one_line};
use crate::session::ToolCall;

/// A waiting call, looked at before it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proposal {
    /// The file it would write, with the text it would leave there.
    pub(crate) writes: Option<(String, String)>,
    pub(crate) change: Option<Change>,
    /// What it is predicted to bring: microseconds before and after.
    pub(crate) predicted: Option<(f64, f64)>,
    /// Anything else worth a line.
    pub(crate) words: Vec<String>,
}

impl Proposal {
    /// Reads the files that the call is about; what cannot be told beforehand is left empty.
    pub(crate) fn of(call: &ToolCall, workspace: &Path) -> Self {
        let word = |key: &str| call.args.get(key).and_then(Value::as_str);
        let read = |path: &str| fs::read_to_string(workspace.join(path)).unwrap_or_default();
        match (call.tool.as_str(), word("path"), word("text")) {
            ("edit", Some(path), Some(text)) => Self::write(path, &read(path), text),
            ("write_document", Some(path), Some(text)) => {
                let before = read(path);
                match word("mode") {
                    Some("append") => {
                        let mut after = before.clone();
                        if !after.is_empty() && !after.ends_with('\n') {
                            after.push('\n');
                        }
                        after.push_str(text);
                        Self::write(path, &before, &after)
                    }
                    _ => Self::write(path, &before, text),
                }
            }
            _ => Self::default(),
        }
    }

    pub(crate) fn write(path: &str, before: &str, after: &str) -> Self {
        Self {
            change: Some(Change::between(path, before, after)),
            writes: Some((path.to_owned(), after.to_owned())),
            ..Self::default()
        }
    }
}

/// A call in one line: its tool, and what its arguments say.
pub(crate) fn summary(call: &ToolCall) -> String {
    let mut words = Vec::new();
    if let Some(args) = call.args.as_object() {
        for (key, value) in args {
            match value {
                Value::String(text) if matches!(key.as_str(), "text" | "patch") => {
                    let lines = text.lines().count();
                    match lines {
                        0 => (),
                        1 => words.push(one_line(text)),
                        _ => words.push(format!("{lines} lines")),
                    }
                }
                Value::String(text) => words.push(one_line(text)),
                Value::Number(number) => words.push(format!("{key} {number}")),
                Value::Bool(true) => words.push(key.clone()),
                Value::Array(all) => words.push(format!("{key} {}", all.len())),
                Value::Null | Value::Bool(false) | Value::Object(_) => (),
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words.join(" · ")
}
