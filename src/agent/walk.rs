//! One walk over the recipes: outcomes of the log are fed to the calls that they belong to.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::driver::Reply;
use super::template::Templates;
use crate::base::CallId;
use crate::session::{Answer, CallRecord, CallState, Item, State, ToolCall, ToolOutcome};
use crate::skills::Library;

/// Why a walk ends before the recipes do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// A call is made, or still open: its outcome is not known yet.
    Pending,
    /// A person is needed, for this reason.
    Blocked(String),
}

pub(super) type Flow<T> = Result<T, Halt>;

/// How a call ended, as recipes tell it apart.
#[derive(Clone, Debug)]
pub(super) enum End<'a> {
    Done(&'a ToolOutcome, Value),
    Failed(&'a ToolOutcome),
    /// A person said no, with words.
    Rejected(String),
    /// The policy said no.
    Forbidden(String),
}

pub(super) struct Walk<'a> {
    pub(super) state: &'a State,
    pub(super) library: &'a Library,
    /// What templates see.
    pub(super) names: Map<String, Value>,
    /// Moves that a person rejected.
    pub(super) rejected: Vec<Rejected>,
    /// Parts of effects that a recipe has ruled out, each with its stage.
    pub(super) left_out: Vec<(String, String)>,
    /// Skills being followed, outermost first: one cannot follow itself.
    pub(super) path: Vec<String>,
    /// Moves in force per stage that a later judgement may take back, oldest first.
    pub(super) applied: BTreeMap<String, Vec<Value>>,
    /// What every move in force does, by stage, oldest first.
    pub(super) does: BTreeMap<String, Vec<Vec<Value>>>,
    /// The last resort is being tried: what fails inside it calls a person.
    pub(super) resorting: bool,
    templates: Templates,
    replies: Vec<Reply>,
    /// How many calls were made.
    next: usize,
    /// How many gates were judged.
    judged: usize,
    /// Calls and judgements when the last phase was entered.
    before_phase: (usize, usize),
    /// The last fact that the walk has used: what was made before it belongs to another road.
    after: u64,
}

/// A move that must not be proposed again, at that site or as anything equal in effect.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rejected {
    pub(super) stage: String,
    pub(super) name: String,
    pub(super) site: Value,
    pub(super) effect: Value,
    /// The parts of its effect: a move that brings the last of them about is the same again.
    pub(super) does: Vec<Value>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(state: &'a State, library: &'a Library) -> Self {
        let mut names = Map::new();
        names.insert("model".to_owned(), json!(state.model));
        names.insert("name".to_owned(), json!(title(&state.model)));
        names.insert("target".to_owned(), json!(state.target));
        names.insert("seq".to_owned(), json!(state.seq));
        names.insert("tokens".to_owned(), json!(state.tokens));
        names.insert("seed".to_owned(), json!(state.seed));
        for name in ["gates", "now", "baseline", "rows"] {
            names.insert(name.to_owned(), json!({}));
        }
        for name in ["phases", "rejections", "debugged"] {
            names.insert(name.to_owned(), json!([]));
        }
        Self {
            state,
            library,
            names,
            rejected: Vec::new(),
            left_out: Vec::new(),
            path: Vec::new(),
            applied: BTreeMap::new(),
            does: BTreeMap::new(),
            resorting: false,
            templates: Templates::new(library.texts()),
            replies: Vec::new(),
            next: 0,
            judged: 0,
            before_phase: (0, 0),
            after: 0,
        }
    }

    /// How many calls were made and gates judged since the last time this was asked.
    pub(super) fn count(&mut self) -> (usize, usize) {
        let (calls, judged) = self.before_phase;
        self.before_phase = (self.next, self.judged);
        (self.next - calls, self.judged - judged)
    }

    pub(super) fn into_replies(self) -> Vec<Reply> {
        self.replies
    }

    /// Words for the transcript. Only those said since the last known outcome are new.
    pub(super) fn say(&mut self, text: String) {
        if !text.trim().is_empty() {
            self.replies.push(Reply::Text(text));
        }
    }

    /// The outcome of this call: from the log, or by making it now.
    pub(super) fn call(&mut self, tool: &str, args: Value) -> Flow<End<'a>> {
        let number = self.next + 1;
        let root = format!("p{number:04}");
        let made = self.state.calls.iter().filter(|record| is_of(record, &root));
        let records: Vec<&'a CallRecord> = made.collect();
        let ours = records.iter().filter(|record| {
            record.seq >= self.after && record.call.tool == tool && record.call.args == args
        });
        let mut is_said = false;
        for record in ours {
            is_said = true;
            match &record.state {
                CallState::Ended(ToolOutcome::Stopped) => (),
                CallState::Ended(outcome) => {
                    self.next = number;
                    self.after = record.seq;
                    self.replies.clear();
                    let end = ended(record, outcome);
                    self.learn(tool, &args, &end);
                    return Ok(end);
                }
                _ => {
                    self.replies.clear();
                    return Err(Halt::Pending);
                }
            }
        }
        if is_said {
            self.replies.clear();
        }
        let id = match records.len() {
            0 => root,
            again => format!("{root}-{}", again + 1),
        };
        self.replies.push(Reply::Call(ToolCall {
            id: CallId::from(id),
            tool: tool.to_owned(),
            args,
        }));
        Err(Halt::Pending)
    }

    /// What every outcome teaches, whichever step asked for it.
    fn learn(&mut self, tool: &str, args: &Value, end: &End<'_>) {
        let End::Done(_, value) = end else { return };
        let stage = args["stage"].as_str().unwrap_or_default();
        match tool {
            "profile" => {
                let kind = args["kind"].as_str().unwrap_or("baseline");
                if matches!(kind, "baseline" | "kept") {
                    self.names["now"][stage] = value.clone();
                }
                if kind == "baseline" {
                    self.names["baseline"][stage] = value.clone();
                }
            }
            "undo_move" => {
                self.applied.get_mut(stage).and_then(Vec::pop);
                self.does.get_mut(stage).and_then(Vec::pop);
            }
            _ => (),
        }
        if let Some(gate) = value["gate"].as_str() {
            self.judged += 1;
            self.names["gates"][gate] = value.clone();
        }
    }

    /// The words of the user that came after the last known outcome: a person has looked.
    pub(super) fn has_new_words(&self) -> bool {
        let items = self.state.transcript.items.iter().rev();
        let mut items = items.take_while(|(seq, _)| *seq > self.after);
        items.any(|(_, item)| matches!(item, Item::User(_)))
    }

    /// Did a person ask to leave this kind of move out, before the next call was made?
    pub(super) fn is_avoided(&self, name: &str) -> bool {
        let root = format!("p{:04}", self.next + 1);
        let mut made = self.state.calls.iter().filter(|record| is_of(record, &root));
        let next = made.find(|record| record.seq > self.after);
        let until = next.map_or(u64::MAX, |record| record.seq);
        let items = self.state.transcript.items.iter().filter(|(seq, _)| *seq < until);
        items.into_iter().any(|(_, item)| match item {
            Item::User(text) => {
                let mut words = text.split_whitespace().map(|word| {
                    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-').to_lowercase()
                });
                words.any(|word| word == "avoid") && words.any(|word| word == name)
            }
            _ => false,
        })
    }

    pub(super) fn render(&self, text: &str) -> Flow<String> {
        self.templates.render(text, &self.names).map_err(Halt::Blocked)
    }

    pub(super) fn evaluate(&self, expression: &str) -> Flow<Value> {
        self.templates.evaluate(expression, &self.names).map_err(Halt::Blocked)
    }

    /// Arguments with every template in them filled in.
    pub(super) fn fill(&self, value: &Value) -> Flow<Value> {
        self.templates.fill(value, &self.names).map_err(Halt::Blocked)
    }

    pub(super) fn fill_map(&self, map: &Map<String, Value>) -> Flow<Map<String, Value>> {
        let filled = map.iter().map(|(key, value)| Ok((key.clone(), self.fill(value)?)));
        filled.collect()
    }
}

/// What people call a model: the last part of its path, without the ending of a file.
fn title(model: &str) -> &str {
    let last = model.trim_end_matches('/').rsplit('/').next().unwrap_or(model);
    last.strip_suffix(".gguf").unwrap_or(last)
}

/// Is it the call of that number, made for the first time or again?
fn is_of(record: &CallRecord, root: &str) -> bool {
    let rest = record.call.id.as_str().strip_prefix(root);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn ended<'a>(record: &CallRecord, outcome: &'a ToolOutcome) -> End<'a> {
    match outcome {
        ToolOutcome::Done { value, .. } => End::Done(outcome, value.clone()),
        ToolOutcome::Failed { .. } | ToolOutcome::Stopped => End::Failed(outcome),
        ToolOutcome::Denied { why } => match &record.answer {
            Some(Answer::Reject { .. }) => End::Rejected(why.clone()),
            _ => End::Forbidden(why.clone()),
        },
    }
}
