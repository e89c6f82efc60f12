//! A recipe: what a mind without a language model does for a skill, step by step.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use crate::base::Finding;

/// Steps in order, and the last resort of the whole deployment where no debug skill helped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    pub steps: Vec<Step>,
    /// Only the orchestrator has one: what to do once when a gate still fails.
    pub fallback: Vec<Step>,
    /// Parts that texts of every recipe may take in: `{% include "checklist" %}`.
    pub texts: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// In its file.
    pub line: usize,
    /// Skipped where this expression is false.
    pub when: Option<String>,
    pub task: Task,
}

/// Texts are templates over what the calls so far came to: `{{ floor.prefill_us | ms }}`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Task {
    /// A line for the transcript.
    Say {
        text: String,
    },
    /// A tool call, whose value later templates find under `save`.
    Call {
        tool: String,
        #[serde(default)]
        with: Map<String, Value>,
        #[serde(default)]
        save: Option<String>,
    },
    /// A judgement, whose value later templates find under `gates.<id>`.
    Gate {
        gate: String,
        /// What it says stands: nothing is tried after it, a person decides.
        #[serde(default)]
        once: bool,
    },
    /// A document, or one section of it.
    Document {
        path: String,
        #[serde(default)]
        section: Option<String>,
        #[serde(default)]
        mode: Mode,
        text: String,
    },
    /// The next phase: asks for it, and stays where it is if that is refused.
    Enter {
        phase: String,
    },
    /// The recipe of another skill, with these names set.
    Follow {
        skill: String,
        #[serde(default)]
        with: Map<String, Value>,
    },
    /// Sets names for later templates; a string that is one `{{ expression }}` keeps its type.
    Set {
        with: Map<String, Value>,
    },
    /// A part of what moves do, as `suggest` words it, that no later move of the stage may bring
    /// about: what a debug skill has decided is not undone for a gain in time.
    LeaveOut {
        stage: String,
        part: String,
    },
    Improve(Improve),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    #[default]
    Section,
    Replace,
    Append,
    /// The text names a task of a checklist that is done now.
    Tick,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Section => "section",
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Tick => "tick",
        }
    }
}

/// One step of a trajectory: moves of a kind are applied while they pay, then judged together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Improve {
    /// `prefill` or `decode`, or a template.
    pub stage: String,
    pub moves: Vec<String>,
    /// What the trajectory calls this step.
    pub change: String,
    /// At most this many moves.
    #[serde(default = "eight")]
    pub most: usize,
    /// A move that is predicted to gain less, in percent of the stage's time, is not worth a call.
    #[serde(default)]
    pub least_percent: f64,
    /// Asks again what is worth doing after each move; else one list serves the whole step.
    #[serde(default)]
    pub ask: Ask,
    /// Judged after the last move; all must pass for the step to stay.
    #[serde(default)]
    pub gates: Vec<String>,
    /// No further move once this expression is true.
    #[serde(default)]
    pub stop_when: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// One list serves all: the moves do not disturb each other.
    #[default]
    Once,
    /// A fresh list after each move: one move changes where the next is possible.
    EachTime,
}

fn eight() -> usize {
    8
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(default)]
    step: Vec<Spanned<toml::Table>>,
    #[serde(default)]
    fallback: Vec<Spanned<toml::Table>>,
    #[serde(default)]
    texts: BTreeMap<String, String>,
}

impl Recipe {
    pub fn parse(place: &str, text: &str) -> (Option<Self>, Vec<Finding>) {
        let raw: Raw = match toml::from_str(text) {
            Ok(raw) => raw,
            Err(error) => {
                let line = error.span().map_or(1, |span| line_of(text, span.start));
                return (None, vec![Finding::error(format!("{place}:{line}"), error.message())]);
            }
        };
        let mut findings = Vec::new();
        let mut steps = |raw: Vec<Spanned<toml::Table>>| {
            let parsed = raw.into_iter().map(|table| {
                let line = line_of(text, table.span().start);
                step(table.into_inner(), line)
                    .map_err(|message| Finding::error(format!("{place}:{line}"), message))
            });
            let (good, bad): (Vec<_>, Vec<_>) = parsed.partition(Result::is_ok);
            findings.extend(bad.into_iter().filter_map(Result::err));
            good.into_iter().filter_map(Result::ok).collect()
        };
        let (step, fallback) = (steps(raw.step), steps(raw.fallback));
        let recipe = Self { steps: step, fallback, texts: raw.texts };
        (Some(recipe), findings)
    }

    /// Every step, those of the last resort included.
    pub fn all(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().chain(&self.fallback)
    }
}

fn step(mut table: toml::Table, line: usize) -> Result<Step, String> {
    let when = match table.remove("when") {
        Some(toml::Value::String(text)) => Some(text),
        Some(other) => return Err(format!("`when` is an expression in quotes, not `{other}`")),
        None => None,
    };
    let task = toml::Value::Table(table).try_into();
    let task = task.map_err(|error: toml::de::Error| error.message().to_owned())?;
    Ok(Step { line, when, task })
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_in_order() {
        let text = "[[step]]\ndo = \"say\"\ntext = \"hello\"\n\n[[step]]\ndo = \"improve\"\nwhen = \"stage\"\nstage = \"prefill\"\nmoves = [\"retile\"]\nchange = \"tiles\"\nask = \"each-time\"\n\n[[step]]\ndo = \"call\"\ntool = \"lower\"\nwith = { seq = 4 }\n";
        let (recipe, findings) = Recipe::parse("recipe.toml", text);
        assert_eq!(findings, []);
        let steps = recipe.unwrap().steps;
        assert_eq!(steps.iter().map(|step| step.line).collect::<Vec<_>>(), [1, 5, 13]);
        assert_eq!(steps[0].task, Task::Say { text: "hello".into() });
        assert!(matches!(&steps[1].task, Task::Improve(Improve { ask: Ask::EachTime, .. })));
        assert_eq!(steps[1].when.as_deref(), Some("stage"));
        assert!(matches!(&steps[2].task, Task::Call { with, .. } if with["seq"] == 4));
    }

    #[test]
    fn a_bad_step_is_named_and_the_others_stay() {
        let text = "[[step]]\ndo = \"say\"\ntxt = \"hello\"\n\n[[step]]\ndo = \"gate\"\ngate = \"block\"\n\n[[step]]\ndo = \"dance\"\n";
        let (recipe, findings) = Recipe::parse("r", text);
        assert_eq!(recipe.unwrap().steps.len(), 1);
        assert_eq!(findings.len(), 2);
        assert!(findings[0].message.contains("txt"), "{}", findings[0]);
        assert_eq!((findings[0].place.as_str(), findings[1].place.as_str()), ("r:1", "r:9"));
        let (recipe, findings) = Recipe::parse("r", "[[step]\n");
        assert!(recipe.is_none() && findings[0].place == "r:1");
    }
}
