//! Does a skill speak of things that exist? Names of tools, moves, gates, phases and skills.

use minijinja::Environment;
use serde_json::{Map, Value};

use super::recipe::{Step, Task};
use super::skill::Skill;
use crate::base::{Finding, nearest};
use crate::session::Phase;

/// The names that a recipe may use.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub tools: Vec<String>,
    pub moves: Vec<String>,
    pub gates: Vec<String>,
    pub skills: Vec<String>,
}

/// What is wrong with a skill as far as names and templates go.
pub fn check(skill: &Skill, known: &Known) -> Vec<Finding> {
    let place = format!("skills/{}/SKILL.md", skill.name);
    let moves = skill.moves.iter().filter_map(|name| unknown("move", name, &known.moves, &place));
    let mut findings: Vec<_> = moves.collect();
    let Some(recipe) = &skill.recipe else { return findings };
    for (name, text) in &recipe.texts {
        if let Err(error) = Environment::new().template_from_str(text) {
            let place = format!("skills/{}/recipe.toml", skill.name);
            findings.push(Finding::error(place, format!("text `{name}`: {error}")));
        }
    }
    for step in recipe.all() {
        let place = format!("skills/{}/recipe.toml:{}", skill.name, step.line);
        check_step(step, known, &place, &mut findings);
    }
    findings
}

fn check_step(step: &Step, known: &Known, place: &str, findings: &mut Vec<Finding>) {
    match &step.task {
        Task::Call { tool, .. } => findings.extend(unknown("tool", tool, &known.tools, place)),
        Task::Gate { gate, .. } => findings.extend(unknown("gate", gate, &known.gates, place)),
        Task::Follow { skill, .. } => {
            findings.extend(unknown("skill", skill, &known.skills, place));
        }
        Task::Enter { phase } if Phase::parse(phase).is_none() => {
            let names = Phase::ALL.map(|phase| phase.name().to_owned());
            findings.extend(unknown("phase", phase, &names, place));
        }
        Task::Improve(improve) => {
            let moves = improve.moves.iter();
            findings.extend(moves.filter_map(|name| unknown("move", name, &known.moves, place)));
            let gates = improve.gates.iter();
            findings.extend(gates.filter_map(|name| unknown("gate", name, &known.gates, place)));
        }
        Task::Say { .. }
        | Task::Document { .. }
        | Task::Enter { .. }
        | Task::LeaveOut { .. }
        | Task::Set { .. } => (),
    }
    let (templates, expressions) = texts(step);
    let environment = Environment::new();
    for template in templates {
        if let Err(error) = environment.template_from_str(template) {
            findings.push(Finding::error(place, format!("template: {error}")));
        }
    }
    for expression in expressions {
        if let Err(error) = environment.compile_expression(expression) {
            findings.push(Finding::error(place, format!("expression `{expression}`: {error}")));
        }
    }
}

/// A name that nobody knows, with the nearest that somebody does.
fn unknown(kind: &str, name: &str, known: &[String], place: &str) -> Option<Finding> {
    if name.contains("{{") || known.iter().any(|other| other == name) {
        return None;
    }
    let finding = Finding::error(place, format!("no {kind} is named `{name}`"));
    let near = nearest(name, known.iter().map(String::as_str));
    Some(match near {
        Some(near) => finding.hint(format!("did you mean `{near}`?")),
        None => finding.hint(format!("one of {}", known.join(", "))),
    })
}

/// The templates and the expressions of a step.
fn texts(step: &Step) -> (Vec<&str>, Vec<&str>) {
    let mut expressions: Vec<_> = step.when.iter().map(String::as_str).collect();
    let templates = match &step.task {
        Task::Say { text } => vec![text.as_str()],
        Task::Call { with, .. } | Task::Follow { with, .. } | Task::Set { with } => strings(with),
        Task::Document { path, section, text, .. } => [Some(path), section.as_ref(), Some(text)]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect(),
        Task::Improve(improve) => {
            expressions.extend(improve.stop_when.iter().map(String::as_str));
            vec![improve.stage.as_str(), improve.change.as_str()]
        }
        Task::LeaveOut { stage, part } => vec![stage.as_str(), part.as_str()],
        Task::Gate { .. } | Task::Enter { .. } => Vec::new(),
    };
    (templates, expressions)
}

fn strings(map: &Map<String, Value>) -> Vec<&str> {
    fn walk<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            Value::Object(map) => map.values().for_each(|value| walk(value, found)),
            _ => (),
        }
    }
    let mut found = Vec::new();
    map.values().for_each(|value| walk(value, &mut found));
    found
}
