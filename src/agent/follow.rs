//! The steps of a recipe, one after the other, and what to do where one does not succeed.

use serde_json::{Map, Value, json};

use super::walk::{End, Flow, Halt, Walk};
use crate::base::shorten;
use crate::session::{Phase, ToolOutcome};
use crate::skills::{Signal, Step, Task};

/// How one try of a step ended.
pub(super) enum Trial {
    Good(Value),
    /// What went wrong, for triggers and for people.
    Bad(Signal, String),
}

impl<'a> Walk<'a> {
    /// Follows the recipe of a skill.
    pub(super) fn skill(&mut self, name: &str) -> Flow<()> {
        let Some(skill) = self.library.find(name) else {
            return Err(Halt::Blocked(format!("no skill is named `{name}`")));
        };
        let Some(recipe) = &skill.recipe else {
            return Err(Halt::Blocked(format!("the skill `{name}` has no recipe to follow")));
        };
        if self.path.iter().any(|other| other == name) {
            return Err(Halt::Blocked(format!("the skill `{name}` follows itself")));
        }
        self.path.push(name.to_owned());
        self.steps(&recipe.steps)?;
        self.path.pop();
        Ok(())
    }

    fn steps(&mut self, steps: &'a [Step]) -> Flow<()> {
        for step in steps {
            if let Some(when) = &step.when
                && !is_true(&self.evaluate(when)?)
            {
                continue;
            }
            self.step(&step.task)?;
        }
        Ok(())
    }

    fn step(&mut self, task: &'a Task) -> Flow<()> {
        match task {
            Task::Say { text } => {
                let text = self.render(text)?;
                self.say(text);
                Ok(())
            }
            Task::Call { tool, with, save } => {
                let args = Value::Object(self.fill_map(with)?);
                let value = self.insist(&|walk| walk.try_call(tool, args.clone()))?;
                if let Some(save) = save {
                    self.names.insert(save.clone(), value);
                }
                Ok(())
            }
            Task::Gate { gate, once: false } => self.gate(gate),
            Task::Gate { gate, once: true } => self.gate_once(gate),
            Task::Document { path, section, mode, text } => {
                let mut args = Map::new();
                args.insert("path".to_owned(), json!(self.render(path)?));
                if let Some(section) = section {
                    args.insert("section".to_owned(), json!(self.render(section)?));
                }
                args.insert("mode".to_owned(), json!(mode.name()));
                args.insert("text".to_owned(), json!(self.render(text)?.trim_end()));
                self.document(Value::Object(args))
            }
            Task::Enter { phase } => self.enter(phase),
            Task::Follow { skill, with } => {
                let with = self.fill_map(with)?;
                self.with(with, |walk| walk.skill(skill))
            }
            Task::Set { with } => {
                let with = self.fill_map(with)?;
                self.names.extend(with);
                Ok(())
            }
            Task::LeaveOut { stage, part } => {
                let left_out = (self.render(stage)?, self.render(part)?);
                self.left_out.push(left_out);
                Ok(())
            }
            Task::Improve(improve) => self.improve(improve),
        }
    }

    /// Sets names for a while.
    pub(super) fn with(
        &mut self,
        with: Map<String, Value>,
        act: impl FnOnce(&mut Self) -> Flow<()>,
    ) -> Flow<()> {
        let mut before = Vec::new();
        for (name, value) in with {
            before.push((name.clone(), self.names.insert(name, value)));
        }
        act(self)?;
        for (name, value) in before {
            match value {
                Some(value) => self.names.insert(name, value),
                None => self.names.remove(&name),
            };
        }
        Ok(())
    }

    pub(super) fn gate(&mut self, gate: &str) -> Flow<()> {
        self.insist(&|walk| walk.try_gate(gate)).map(drop)
    }

    /// A judgement on inputs that are drawn anew each time: asking until it passes would be
    /// drawing until it passes.
    fn gate_once(&mut self, gate: &str) -> Flow<()> {
        loop {
            match self.try_gate(gate)? {
                Trial::Good(_) => return Ok(()),
                Trial::Bad(signal, _) if signal == Signal::default() => (),
                Trial::Bad(_, text) => self.blocked(&text, &[])?,
            }
        }
    }

    pub(super) fn try_gate(&mut self, gate: &str) -> Flow<Trial> {
        self.try_call("gate", json!({ "id": gate }))
    }

    /// A call that must succeed: it may fail, find errors, fail its gate, or be refused.
    pub(super) fn try_call(&mut self, tool: &str, args: Value) -> Flow<Trial> {
        Ok(match self.call(tool, args)? {
            End::Done(outcome, value) => match Signal::of_outcome(outcome) {
                Some(signal) => Trial::Bad(signal, outcome.text().to_owned()),
                None => Trial::Good(value),
            },
            End::Failed(outcome) => {
                let signal = Signal::of_outcome(outcome).unwrap_or_default();
                Trial::Bad(signal, outcome.text().to_owned())
            }
            End::Rejected(why) | End::Forbidden(why) => {
                if !self.has_new_words() {
                    return Err(Halt::Blocked(format!("`{tool}` was refused: {why}")));
                }
                // The user has spoken since the refusal: the same is asked once more.
                let text = format!("`{tool}` was refused before the last words");
                Trial::Bad(Signal::default(), text)
            }
        })
    }

    /// Tries until it is good: the debug skill that a trigger names gets one try, the last resort
    /// of the deployment one more, and then a person is needed. Words of a person start it over.
    fn insist(&mut self, attempt: &dyn Fn(&mut Self) -> Flow<Trial>) -> Flow<Value> {
        let (mut debugged, mut resorted) = (Vec::new(), false);
        loop {
            let (signal, text) = match attempt(self)? {
                Trial::Good(value) => return Ok(value),
                Trial::Bad(signal, text) => (signal, text),
            };
            if signal == Signal::default() {
                continue; // Refused, and spoken to since: asked again.
            }
            if debugged.is_empty()
                && let Some(skill) = self.debug_skill(&signal)
            {
                debugged.push(skill.clone());
                self.skill(&skill)?;
                continue;
            }
            if !resorted && !self.resorting {
                resorted = true;
                self.last_resort(&text)?;
                continue;
            }
            self.blocked(&text, &debugged)?;
            (debugged, resorted) = (Vec::new(), false);
        }
    }

    /// The debug skill that a trigger names, said aloud with its reason.
    pub(super) fn debug_skill(&mut self, signal: &Signal) -> Option<String> {
        let library = self.library;
        let mut triggered = library.triggered(signal).filter(|(skill, _)| skill.is_debug());
        let (skill, why) = triggered
            .find(|(skill, _)| skill.recipe.is_some() && !self.path.contains(&skill.name))?;
        self.say(format!("{why} → skill `{}`", skill.name));
        if let Some(list) = self.names["debugged"].as_array_mut() {
            list.push(json!({ "skill": skill.name, "why": why }));
        }
        Some(skill.name.clone())
    }

    /// The fallback steps of the orchestrator: systematic debugging, whatever the failure.
    pub(super) fn last_resort(&mut self, text: &str) -> Flow<()> {
        let lead = self.library.orchestrator().and_then(|skill| skill.recipe.as_ref());
        let steps = lead.map(|recipe| recipe.fallback.as_slice()).unwrap_or_default();
        self.names.insert("failure".to_owned(), json!(shorten(text, 400)));
        self.resorting = true;
        self.steps(steps)?;
        self.resorting = false;
        Ok(())
    }

    /// Writes down what a person is needed for, and waits for words.
    pub(super) fn blocked(&mut self, text: &str, debugged: &[String]) -> Flow<()> {
        let ruled_out = match debugged {
            [] => "systematic debugging".to_owned(),
            skills => format!("`{}`, then systematic debugging", skills.join("`, `")),
        };
        let told = format!("{}\n\nTried without success: {ruled_out}.", shorten(text, 600));
        let title = shorten(text.lines().next().unwrap_or_default(), 80);
        let args = json!({ "kind": "blocker", "title": title, "text": told });
        let _noted = self.call("note", args)?;
        if self.has_new_words() {
            self.say("Once more from where it failed".to_owned());
            return Ok(());
        }
        Err(Halt::Blocked(shorten(text, 400)))
    }

    /// Saves a document; one that a person does not want stays as it was.
    fn document(&mut self, args: Value) -> Flow<()> {
        let path = args["path"].as_str().unwrap_or_default().to_owned();
        match self.call("write_document", args)? {
            End::Rejected(why) => self.say(format!("`{path}` stays as it was: {why}")),
            End::Failed(outcome) => {
                let text = format!("`{path}` was not written: {}", outcome.text());
                self.blocked(&text, &[])?;
            }
            End::Forbidden(why) if !self.has_new_words() => {
                return Err(Halt::Blocked(format!("`{path}` may not be written: {why}")));
            }
            End::Done(..) | End::Forbidden(_) => (),
        }
        Ok(())
    }

    /// Goes on to a phase. What is missing for it is judged once more, as files may have changed.
    fn enter(&mut self, phase: &str) -> Flow<()> {
        let mut judged_again = false;
        loop {
            let why = match self.call("enter_phase", json!({ "phase": phase }))? {
                End::Done(..) => {
                    self.entered(phase);
                    return Ok(());
                }
                End::Failed(outcome) => {
                    let missing = missing_gates(outcome);
                    if !judged_again && !missing.is_empty() {
                        judged_again = true;
                        self.say(format!("{} must be judged again", missing.join(", ")));
                        for gate in missing {
                            self.gate(&gate)?;
                        }
                        continue;
                    }
                    outcome.text().to_owned()
                }
                End::Rejected(why) | End::Forbidden(why) => why,
            };
            if !self.has_new_words() {
                return Err(Halt::Blocked(format!("phase `{phase}` is not entered: {why}")));
            }
            judged_again = false;
        }
    }

    /// Notes how long the phase took that just ended, by the facts that opened and closed it.
    fn entered(&mut self, phase: &str) {
        let (calls, judged) = self.count();
        let Some(phase) = Phase::parse(phase) else { return };
        let done = phase.number().checked_sub(1).and_then(|number| Phase::ALL.get(number));
        let at = |phase: Phase| {
            let mut entered = self.state.phases.iter().filter(|(other, _)| *other == phase);
            entered.next_back().map(|(_, time)| *time)
        };
        let Some(done) = done else { return };
        let began = at(*done).unwrap_or(self.state.began);
        let ended = at(phase).unwrap_or(began);
        let minutes = ended.since(began).as_secs_f64() / 60.0;
        let row = json!({
            "number": done.number(),
            "title": done.title(),
            "minutes": minutes,
            "began": began.to_string(),
            "ended": ended.to_string(),
            "calls": calls,
            "judged": judged,
        });
        if let Some(rows) = self.names["phases"].as_array_mut() {
            rows.push(row);
        }
    }
}

fn missing_gates(outcome: &ToolOutcome) -> Vec<String> {
    let ToolOutcome::Failed { value, .. } = outcome else { return Vec::new() };
    let gates = value["gates"].as_array().into_iter().flatten();
    gates.filter_map(|gate| gate.as_str().map(str::to_owned)).collect()
}

pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(it) => *it,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}
