//! One step of a trajectory: apply moves while they pay, time, judge, and keep or take back.

use serde_json::{Map, Value, json};

use super::follow::{Trial, is_true};
use super::template::milliseconds;
use super::walk::{End, Flow, Halt, Rejected, Walk};
use crate::base::shorten;
use crate::skills::{Ask, Improve, Signal};

/// Where one `improve` stands.
struct Attempt<'a> {
    improve: &'a Improve,
    stage: String,
    change: String,
    /// Moves that failed in this step, by effect.
    failed: Vec<Value>,
    list: Vec<Value>,
    asked: bool,
}

/// What the gates left of a step, with the receipt that decided.
enum Kept {
    Some(Value),
    Nothing(Value),
}

impl<'a> Walk<'a> {
    pub(super) fn improve(&mut self, improve: &'a Improve) -> Flow<()> {
        let (stage, change) = (self.render(&improve.stage)?, self.render(&improve.change)?);
        self.applied.insert(stage.clone(), Vec::new());
        self.names.insert("step".to_owned(), Value::Null);
        let (failed, list) = (Vec::new(), Vec::new());
        let mut attempt = Attempt { improve, stage, change, failed, list, asked: false };
        self.apply_moves(&mut attempt)?;
        if self.in_force(&attempt.stage) == 0 {
            return Ok(());
        }
        let change = self.described(&attempt);
        let args = json!({ "stage": attempt.stage, "kind": "tried", "change": change });
        let tried = self.must("profile", &args)?;
        let before = self.names["now"][attempt.stage.as_str()].clone();
        let gain = total(&before) - total(&tried);
        if gain.is_nan() || gain <= 0.0 {
            self.say(format!("{change}: no gain, taken back"));
            return self.take_back(&attempt, &change, &tried, &Value::Null);
        }
        match self.judge_all(&attempt)? {
            Kept::Some(receipt) => {
                let change = self.described(&attempt);
                self.keep(&attempt, &change, &before, &receipt)
            }
            Kept::Nothing(receipt) => self.take_back(&attempt, &change, &tried, &receipt),
        }
    }

    /// Applies the moves of this step, the one that pays most first.
    fn apply_moves(&mut self, attempt: &mut Attempt<'a>) -> Flow<()> {
        let stage = attempt.stage.clone();
        while self.in_force(&stage) < attempt.improve.most {
            if let Some(stop) = &attempt.improve.stop_when
                && is_true(&self.evaluate(stop)?)
            {
                return Ok(());
            }
            let Some(suggestion) = self.next_suggestion(attempt)? else { return Ok(()) };
            let (name, site) = (suggestion["move"].clone(), suggestion["site"].clone());
            let args = json!({ "stage": stage, "move": name, "site": site });
            match self.call("apply_move", args)? {
                End::Done(_, value) => {
                    let mut made = suggestion.clone();
                    made["applied"] = value;
                    self.does.entry(stage.clone()).or_default().push(parts(&made));
                    self.applied.entry(stage.clone()).or_default().push(made);
                }
                End::Failed(outcome) => {
                    attempt.failed.push(suggestion["effect"].clone());
                    let signal = Signal::of_outcome(outcome).unwrap_or_default();
                    if let Some(skill) = self.debug_skill(&signal) {
                        self.debug(&skill, &stage, 0)?;
                    }
                }
                End::Rejected(why) => self.reject(&stage, &suggestion, &why)?,
                End::Forbidden(why) if self.has_new_words() => self.say(format!("{why}: again")),
                End::Forbidden(why) => {
                    return Err(Halt::Blocked(format!("a move may not be applied: {why}")));
                }
            }
        }
        Ok(())
    }

    /// The best suggestion that is left, that nobody rejected and that has not failed.
    fn next_suggestion(&mut self, attempt: &mut Attempt<'a>) -> Flow<Option<Value>> {
        let improve = attempt.improve;
        if !attempt.asked || improve.ask == Ask::EachTime {
            let moves: Vec<_> =
                improve.moves.iter().filter(|name| !self.is_avoided(name)).collect();
            if moves.is_empty() {
                return Ok(None);
            }
            let limit = match improve.ask {
                Ask::Once => improve.most,
                Ask::EachTime => 4,
            };
            let barred = self.rejected.len() + self.left_out.len();
            let limit = limit + barred + attempt.failed.len();
            let args = json!({ "stage": attempt.stage, "moves": moves, "limit": limit });
            let value = self.must("suggest", &args)?;
            attempt.list = value["suggestions"].as_array().cloned().unwrap_or_default();
            attempt.asked = true;
        }
        let now = total(&self.names["now"][attempt.stage.as_str()]);
        let least = now * improve.least_percent / 100.0;
        let fits = |walk: &Self, suggestion: &Value| {
            let gain = suggestion["gain_us"].as_f64().unwrap_or_default();
            let name = suggestion["move"].as_str().unwrap_or_default();
            let mends = suggestion["mends"].as_u64().unwrap_or_default();
            (mends > 0 || (gain > 0.0 && gain >= least))
                && !attempt.failed.contains(&suggestion["effect"])
                && !walk.is_rejected(&attempt.stage, suggestion)
                && !walk.is_left_out(&attempt.stage, suggestion)
                && !walk.is_avoided(name)
        };
        let at = attempt.list.iter().position(|suggestion| fits(self, suggestion));
        let Some(at) = at else { return Ok(None) };
        let chosen = attempt.list.remove(at);
        attempt.list.drain(..at);
        Ok(Some(chosen))
    }

    fn is_rejected(&self, stage: &str, suggestion: &Value) -> bool {
        self.rejected.iter().any(|rejected| {
            let is_same = suggestion["move"].as_str() == Some(rejected.name.as_str())
                && suggestion["site"] == rejected.site;
            let is_equal = !rejected.effect.is_null() && suggestion["effect"] == rejected.effect;
            rejected.stage == stage && (is_same || is_equal || self.completes(rejected, suggestion))
        })
    }

    /// Would it bring about what a recipe has ruled out?
    fn is_left_out(&self, stage: &str, suggestion: &Value) -> bool {
        let does = parts(suggestion);
        let mut left_out = self.left_out.iter().filter(|(of, _)| of == stage);
        left_out.any(|(_, part)| does.iter().any(|done| done.as_str() == Some(part)))
    }

    /// Would the last part of what was rejected come about with this move?
    fn completes(&self, rejected: &Rejected, suggestion: &Value) -> bool {
        let does = parts(suggestion);
        let in_force = self.does.get(&rejected.stage).map(Vec::as_slice).unwrap_or_default();
        let is_done = |part: &Value| in_force.iter().any(|parts| parts.contains(part));
        rejected.does.iter().any(|part| does.contains(part))
            && rejected.does.iter().all(|part| does.contains(part) || is_done(part))
    }

    /// A person said no: that move at that site, and whatever would do the same, is left out from
    /// now on, and the reason stands in the document of issues.
    fn reject(&mut self, stage: &str, suggestion: &Value, why: &str) -> Flow<()> {
        let name = suggestion["move"].as_str().unwrap_or_default().to_owned();
        let words = words(suggestion);
        self.rejected.push(Rejected {
            stage: stage.to_owned(),
            name,
            site: suggestion["site"].clone(),
            effect: suggestion["effect"].clone(),
            does: parts(suggestion),
        });
        let why = if why.trim().is_empty() { "no reason given" } else { why.trim() };
        if let Some(list) = self.names["rejections"].as_array_mut() {
            list.push(json!({ "stage": stage, "change": words, "why": why }));
        }
        self.say(format!("Left out for good: {words} ({why})"));
        let text = format!(
            "**Symptom** a person rejected the move.\n\n**Reason** {why}\n\n**Effect** it, and \
             anything equal in effect, is not proposed again in this deployment."
        );
        let title = format!("Rejected in {stage}: {words}");
        let args = json!({ "kind": "issue", "title": title, "text": text });
        let _noted = self.call("note", args)?;
        Ok(())
    }

    /// Judges every gate of the step. A debug skill or the halving below may take moves back on
    /// the way; what is left has been judged.
    fn judge_all(&mut self, attempt: &Attempt<'a>) -> Flow<Kept> {
        let (mut debugged, mut halved) = (false, false);
        'again: loop {
            let mut receipt = Value::Null;
            for gate in &attempt.improve.gates {
                let (signal, text) = match self.try_gate(gate)? {
                    Trial::Good(value) => {
                        receipt = value["receipt"].clone();
                        continue;
                    }
                    Trial::Bad(signal, text) => (signal, text),
                };
                if signal == Signal::default() {
                    continue 'again;
                }
                if !debugged {
                    debugged = true;
                    if let Some(skill) = self.debug_skill(&signal) {
                        self.debug(&skill, &attempt.stage, self.in_force(&attempt.stage))?;
                    }
                    if self.in_force(&attempt.stage) > 0 {
                        continue 'again;
                    }
                }
                if !halved && self.in_force(&attempt.stage) > 1 {
                    // Systematic: the later half of the moves goes first, then all of them.
                    halved = true;
                    let keep = self.in_force(&attempt.stage) / 2;
                    self.say(format!("{text} → the later moves of this step are taken back"));
                    self.undo_to(&attempt.stage, keep)?;
                    continue 'again;
                }
                self.say(format!("{text} → this step is taken back"));
                return Ok(Kept::Nothing(self.names["gates"][gate.as_str()]["receipt"].clone()));
            }
            return Ok(Kept::Some(receipt));
        }
    }

    /// Follows a debug skill, which may take back as many moves of the stage as `in_force` says.
    fn debug(&mut self, skill: &str, stage: &str, in_force: usize) -> Flow<()> {
        let mut names = Map::new();
        names.insert("stage".to_owned(), json!(stage));
        names.insert("in_force".to_owned(), json!(in_force));
        self.with(names, |walk| walk.skill(skill))
    }

    fn keep(
        &mut self,
        attempt: &Attempt<'a>,
        change: &str,
        before: &Value,
        receipt: &Value,
    ) -> Flow<()> {
        let stage = attempt.stage.as_str();
        let args = json!({
            "stage": stage, "kind": "kept", "change": change, "receipt": receipt,
        });
        let kept = self.must("profile", &args)?;
        self.row(stage, change, "kept", before, &kept, receipt);
        let (was, is) = (total(before), total(&kept));
        let (from, to) = (milliseconds(was), milliseconds(is));
        self.say(format!("{stage} {from} → {to} ({:.2}×): {change}", was / is.max(1e-9)));
        self.applied.insert(stage.to_owned(), Vec::new());
        Ok(())
    }

    /// Takes back what is left of this step, and says so in the trajectory.
    fn take_back(
        &mut self,
        attempt: &Attempt<'a>,
        change: &str,
        tried: &Value,
        receipt: &Value,
    ) -> Flow<()> {
        let stage = attempt.stage.as_str();
        self.undo_to(stage, 0)?;
        let args = json!({ "stage": stage, "kind": "reverted", "change": change });
        self.must("profile", &args)?;
        // What failed on the step is judged on what it was taken back to.
        let failed = |gate: &&String| {
            let verdict = &self.names["gates"][gate.as_str()]["verdict"];
            verdict.is_string() && *verdict != "pass"
        };
        let failed: Vec<&String> = attempt.improve.gates.iter().filter(failed).collect();
        for gate in failed {
            self.try_gate(gate)?;
        }
        let before = self.names["now"][stage].clone();
        self.row(stage, change, "reverted", &before, tried, receipt);
        Ok(())
    }

    fn undo_to(&mut self, stage: &str, keep: usize) -> Flow<()> {
        while self.in_force(stage) > keep {
            self.must("undo_move", &json!({ "stage": stage }))?;
        }
        Ok(())
    }

    fn row(
        &mut self,
        stage: &str,
        change: &str,
        kind: &str,
        before: &Value,
        after: &Value,
        receipt: &Value,
    ) {
        let stages = self.names["rows"].as_object();
        let rows = stages.into_iter().flat_map(|stages| stages.values());
        let number = 1 + rows.filter_map(|rows| rows.as_array().map(Vec::len)).sum::<usize>();
        let gain = (total(before) - total(after)) / total(before);
        let row = json!({
            "gain": gain, "from": largest(before, after),
            "number": number, "stage": stage, "change": change, "kind": kind,
            "before": before, "after": after, "receipt": receipt,
        });
        self.names.insert("step".to_owned(), row.clone());
        if self.names["rows"][stage].is_null() {
            self.names["rows"][stage] = json!([]);
        }
        if let Some(rows) = self.names["rows"][stage].as_array_mut() {
            rows.push(row);
        }
    }

    /// What the step is called: its own words, and the moves that it is made of.
    fn described(&self, attempt: &Attempt<'_>) -> String {
        let moves = self.applied.get(&attempt.stage).map(Vec::as_slice).unwrap_or_default();
        let told: Vec<String> = moves.iter().map(|made| brief(&words(made))).collect();
        let text = match told.len() {
            0 => attempt.change.clone(),
            1..=3 => format!("{}: {}", attempt.change, told.join("; ")),
            more => format!("{}: {}; and {} more", attempt.change, told[..2].join("; "), more - 2),
        };
        if is_resolvable(moves) { text } else { format!("{text} (not resolvable)") }
    }

    pub(super) fn in_force(&self, stage: &str) -> usize {
        self.applied.get(stage).map_or(0, Vec::len)
    }

    /// A call that nothing but a person's word can keep from succeeding.
    fn must(&mut self, tool: &str, args: &Value) -> Flow<Value> {
        loop {
            match self.try_call(tool, args.clone())? {
                Trial::Good(value) => return Ok(value),
                Trial::Bad(signal, _) if signal == Signal::default() => (),
                Trial::Bad(_, text) => self.blocked(&text, &[])?,
            }
        }
    }
}

/// Whether what these moves gain is more than what the predictions of it may be off by.
fn is_resolvable(moves: &[Value]) -> bool {
    let of = |key: &'static str| {
        moves.iter().map(move |made| made["applied"][key].as_f64().unwrap_or_default())
    };
    let (gain, doubt): (f64, f64) = (of("gain_us").sum(), of("doubt_us").map(|us| us * us).sum());
    moves.is_empty() || gain.abs() > doubt.sqrt()
}

/// What a suggestion would do, for a reader.
fn words(suggestion: &Value) -> String {
    let told = suggestion["words"].as_str().filter(|words| !words.is_empty());
    told.map_or_else(
        || {
            let name = suggestion["move"].as_str().unwrap_or_default();
            let site = match &suggestion["site"] {
                Value::String(site) => site.clone(),
                other => other.to_string(),
            };
            format!("{name} at {site}")
        },
        str::to_owned,
    )
}

/// Few enough words for a table; a name in backticks that is cut stays one.
fn brief(words: &str) -> String {
    let mut brief = shorten(words, 90);
    if brief.matches('`').count() % 2 == 1 {
        brief.push('`');
    }
    brief
}

/// The part of the time that changed most for the better.
fn largest(before: &Value, after: &Value) -> &'static str {
    let gain = |part: &str| {
        let of = |profile: &Value| profile["cost"][part].as_f64().unwrap_or_default();
        of(before) - of(after)
    };
    let parts =
        ["dispatch", "upload", "tile", "host"].map(|part| (gain(&format!("{part}_us")), part));
    parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or("", |(_, part)| part)
}

/// The parts of what a suggestion does.
fn parts(suggestion: &Value) -> Vec<Value> {
    suggestion["does"].as_array().cloned().unwrap_or_default()
}

fn total(profile: &Value) -> f64 {
    profile["total_us"].as_f64().unwrap_or(f64::MAX)
}
