//! What a waiting call would change, as a difference a person can read before it happens.

use std::fs;
use std::path::Path as FilePath;

use serde_json::Value;

use super::widget::{Change, micros, one_line};
use crate::npu::moves;
use crate::npu::{Array, Program, ProgramText, cost, format};
use crate::session::{Grant, ToolCall};
use crate::workspace::{Edit, Path};

/// A waiting call, looked at before it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Proposal {
    /// What it does, if it can be told better than by its arguments.
    pub(crate) title: Option<String>,
    /// The file it would write, with the text it would leave there.
    pub(crate) writes: Option<(String, String)>,
    pub(crate) change: Option<Change>,
    /// What it is predicted to bring: microseconds before and after.
    pub(crate) predicted: Option<(f64, f64)>,
    /// What `always` would grant; nothing where nothing can stand.
    pub(crate) grant: Option<Grant>,
    /// Anything else worth a line.
    pub(crate) words: Vec<String>,
}

/// The context at which a decode program is timed for a preview.
const CONTEXT: usize = 64;

impl Proposal {
    /// Reads the files that the call is about; what cannot be told beforehand is left empty.
    pub(crate) fn of(call: &ToolCall, workspace: &FilePath) -> Self {
        let word = |key: &str| call.args.get(key).and_then(Value::as_str);
        let mut proposal = match (call.tool.as_str(), word("path"), word("text")) {
            ("edit", Some(path), _) => match (word("old"), word("new")) {
                (Some(old), Some(new)) => {
                    let before = read(workspace, path);
                    Self::write(path, &before, &before.replacen(old, new, 1))
                }
                _ => Self::default(),
            },
            ("write", Some(path), Some(text)) => Self::write(path, &read(workspace, path), text),
            ("write_document", Some(path), Some(text)) => {
                let before = read(workspace, path);
                match document_edit(word("section"), word("mode"), text).apply(&before) {
                    Ok(after) => {
                        let title = match (word("mode"), word("section")) {
                            (Some("tick"), _) => Some(format!("tick in {path}: {text}")),
                            (_, Some(section)) => Some(format!(
                                "write {path}: {}",
                                section.trim_start_matches(['#', ' '])
                            )),
                            _ => Some(format!("write {path}")),
                        };
                        let title = title.as_deref().map(one_line);
                        Self { title, ..Self::write(path, &before, &after) }
                    }
                    Err(why) => Self { words: vec![one_line(&why)], ..Self::default() },
                }
            }
            ("apply_move", _, _) => match (word("stage"), word("move")) {
                (Some(stage), Some(name)) => made(stage, name, call.args.get("site"), workspace),
                _ => Self::default(),
            },
            _ => Self::default(),
        };
        for key in ["why", "change", "words"] {
            proposal.words.extend(word(key).map(one_line));
        }
        proposal
    }

    pub(crate) fn write(path: &str, before: &str, after: &str) -> Self {
        // Programs are kept canonical: what will be written is not always what was said.
        let canonical = is_program(path).then(|| format(path, after).ok()).flatten();
        let after = canonical.as_deref().unwrap_or(after);
        let parsed = |text: &str| ProgramText::parse(path, text).0;
        let mut proposal = Self {
            change: Some(Change::between(path, before, after)),
            writes: Some((path.to_owned(), after.to_owned())),
            ..Self::default()
        };
        if is_program(path)
            && let (Some(before), Some(after)) = (parsed(before), parsed(after))
        {
            proposal.predicted = Some((time(before.program()), time(after.program())));
        }
        proposal
    }

    /// `predicted −38.2 ms (−21.0 %)`.
    pub(crate) fn prediction(&self) -> Option<String> {
        let (before, after) = self.predicted?;
        let change = after - before;
        if !change.is_finite() || before <= 0.0 {
            return None;
        }
        let sign = if change > 0.0 { "+" } else { "−" };
        let share = 100.0 * change.abs() / before;
        Some(format!("predicted {sign}{} ({sign}{share:.1} %)", micros(change.abs())))
    }
}

fn is_program(path: &str) -> bool {
    path.starts_with("program/")
}

/// Only files of the workspace are looked at, whatever a mind calls for.
fn read(workspace: &FilePath, path: &str) -> String {
    match Path::new(path) {
        Ok(path) => fs::read_to_string(workspace.join(path.as_str())).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

fn time(program: &Program) -> f64 {
    cost(program, &Array::xdna2(), CONTEXT).total_us()
}

fn document_edit(section: Option<&str>, mode: Option<&str>, text: &str) -> Edit {
    let text = text.to_owned();
    match (mode, section) {
        (Some("replace"), _) => Edit::Replace(text),
        (Some("append"), Some(heading)) => Edit::AppendTo { heading: heading.to_owned(), text },
        (_, Some(heading)) => Edit::Section { heading: heading.to_owned(), text },
        _ => Edit::Append(text),
    }
}

/// A move, made on a copy.
fn made(stage: &str, name: &str, site: Option<&Value>, workspace: &FilePath) -> Proposal {
    let path = format!("program/{stage}.toml");
    let before = read(workspace, &path);
    let array = Array::xdna2();
    let told = |words: String| Proposal { words: vec![one_line(&words)], ..Proposal::default() };
    let (Some(text), _) = ProgramText::parse(&path, &before) else {
        return told(format!("`{path}` cannot be read as a program"));
    };
    let Some(found) = moves::find(name) else {
        return told(format!("there is no move `{name}`"));
    };
    let site = match moves::Site::parse(site.unwrap_or(&Value::Null)) {
        Ok(site) => site,
        Err(finding) => return told(finding.to_string()),
    };
    match found.apply(text.program(), &site, &array) {
        Ok(program) => Proposal {
            title: Some(one_line(&found.words(text.program(), &site))),
            predicted: Some((time(text.program()), time(&program))),
            ..Proposal::write(&path, &before, text.with(&program).text())
        },
        Err(finding) => told(finding.to_string()),
    }
}

/// A call in one line: what its arguments say.
pub(crate) fn summary(call: &ToolCall) -> String {
    let mut words = Vec::new();
    for (key, value) in call.args.as_object().into_iter().flatten() {
        match value {
            Value::String(text) if matches!(key.as_str(), "text" | "old" | "new") => {
                match text.lines().count() {
                    0 => (),
                    1 => words.push(one_line(text)),
                    lines => words.push(format!("{lines} lines")),
                }
            }
            Value::String(text) => words.push(one_line(text)),
            Value::Number(number) => words.push(format!("{key} {number}")),
            Value::Bool(true) => words.push(key.clone()),
            Value::Array(all) if all.iter().all(Value::is_string) => {
                let all: Vec<String> = all.iter().filter_map(Value::as_str).map(one_line).collect();
                words.push(all.join(" "));
            }
            Value::Array(all) => words.push(format!("{key} {}", all.len())),
            Value::Null | Value::Bool(false) | Value::Object(_) => (),
        }
    }
    words.retain(|word| !word.is_empty());
    words.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::CallId;
    use serde_json::json;

    fn call(tool: &str, args: Value) -> ToolCall {
        ToolCall { id: CallId::from("c1"), tool: tool.to_owned(), args }
    }

    #[test]
    fn a_call_that_writes_shows_what_it_would_leave() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plan.md"), "# Plan\n\nold words\n").unwrap();
        let check = |tool: &str, args: Value, size: [usize; 3], after: &str| {
            let proposal = Proposal::of(&call(tool, args), folder.path());
            let (change, writes) = (proposal.change.unwrap(), proposal.writes.unwrap());
            assert_eq!([change.added, change.removed, change.hunks.len()], size);
            assert_eq!(writes, ("plan.md".to_owned(), after.to_owned()));
        };
        let edit = json!({"path": "plan.md", "old": "old", "new": "new"});
        check("edit", edit, [1, 1, 1], "# Plan\n\nnew words\n");
        let write = json!({"path": "plan.md", "text": "# Plan\n"});
        check("write", write, [0, 2, 1], "# Plan\n");
        let section = json!({"path": "plan.md", "section": "Plan", "text": "x"});
        check("write_document", section, [1, 1, 1], "# Plan\n\nx\n");
        let outside = json!({"path": "../secret", "text": "x"});
        let proposal = Proposal::of(&call("write", outside), folder.path());
        assert_eq!(proposal.change.unwrap().removed, 0);
    }

    #[test]
    fn a_call_is_told_in_one_line() {
        let args = json!({"stage": "prefill", "moves": ["retile", "make-static"], "limit": 8});
        assert_eq!(summary(&call("suggest", args)), "prefill · retile make-static · limit 8");
        let args = json!({"path": "plan.md", "text": "a\nb\n\u{1b}[2J"});
        assert_eq!(summary(&call("write", args)), "plan.md · 3 lines");
    }
}
