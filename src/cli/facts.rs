//! Facts as lines for a person who only watches.

use std::collections::BTreeMap;

use super::output;
use crate::base::{CallId, Time, shorten};
use crate::session::{Author, Entry, Event, ToolCall, ToolOutcome};

/// Remembers what later lines refer to.
#[derive(Default)]
pub(super) struct Teller {
    began: Option<Time>,
    calls: BTreeMap<CallId, String>,
}

const WIDTH: usize = 100;

impl Teller {
    /// Takes a fact in without a word.
    pub(super) fn know(&mut self, fact: &Entry) {
        self.began.get_or_insert(fact.at);
        if let Event::Called(call) = &fact.event {
            self.calls.insert(call.id.clone(), summary(call));
        }
    }

    pub(super) fn tell(&mut self, fact: &Entry) {
        self.know(fact);
        if let Some(line) = self.line(fact) {
            let since = fact.at.since(self.began.unwrap_or_default()).as_secs();
            output::say(&format!("{:>3}:{:02}  {line}", since / 60, since % 60));
        }
    }

    fn line(&self, fact: &Entry) -> Option<String> {
        Some(match &fact.event {
            Event::Opened { model, target, agent, seq, .. } => {
                format!("deploy `{model}` on `{target}`, {seq} tokens, mind `{agent}`")
            }
            Event::PhaseEntered { phase } => {
                format!("── phase {} · {}", phase.number(), phase.title())
            }
            Event::AgentSaid { text } => shorten(first(text), WIDTH),
            Event::Judged(judged) => {
                let mark = if judged.passed() { "✓" } else { "✗" };
                let headline = shorten(first(&judged.headline), WIDTH);
                format!("{mark} {}: {} · {headline}", judged.gate, judged.verdict)
            }
            Event::Returned { call, outcome } => self.outcome(call, outcome)?,
            Event::DocumentSaved { path, .. } if fact.by == Author::User => {
                format!("`{path}` was edited by hand")
            }
            Event::SkillRead { skill, why } => format!("skill `{skill}`: {}", shorten(why, WIDTH)),
            Event::Noted { kind, text, .. } => format!("{kind}: {}", shorten(first(text), WIDTH)),
            Event::AutonomySet { autonomy } => format!("autonomy: {autonomy}"),
            _ => return None,
        })
    }

    fn outcome(&self, call: &CallId, outcome: &ToolOutcome) -> Option<String> {
        let name = self.calls.get(call).map_or_else(|| call.to_string(), Clone::clone);
        if name.starts_with("gate ") && matches!(outcome, ToolOutcome::Done { .. }) {
            return None; // The judgement itself was told.
        }
        let text = shorten(first(outcome.text()), WIDTH);
        Some(match outcome {
            ToolOutcome::Done { .. } => format!("  {name}: {text}"),
            other => format!("  {name}: {} · {text}", other.word()),
        })
    }
}

fn summary(call: &ToolCall) -> String {
    let words = ["id", "stage", "kind", "path", "move", "phase", "name", "title"];
    let said = words.iter().filter_map(|key| call.args[*key].as_str());
    let said: Vec<&str> = said.take(2).collect();
    if said.is_empty() { call.tool.clone() } else { format!("{} {}", call.tool, said.join(" ")) }
}

fn first(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}
