//! The rules of a session: given what is, and what comes in, what follows. Pure.

use super::brought::brought;
use super::effect::Effect;
use super::request::{Input, Request};
use super::step::Step;
use crate::agent::Reply;
use crate::base::{CallId, Hash, PromptId};
use crate::policy::{Footprint, Presence, Rules, rule};
use crate::session::{
    Answer, Artifact, Author, Autonomy, CallRecord, CallState, Event, Grant, Judged, Ruling, State,
    ToolCall, ToolOutcome, Unread, Usage,
};
use crate::tools::Toolbox;

pub fn decide(state: &State, rules: &Rules, tools: &Toolbox, input: Input) -> Step {
    let scene = Scene { state, rules, tools };
    match input {
        Input::Request(request) => scene.request(request),
        Input::Resumed => scene.resumed(),
        Input::Edited { path, hash } => scene.edited(path, hash),
        Input::Reply { prompt, reply } => scene.reply(prompt, reply),
        Input::Returned { call, outcome, facts } => scene.returned(&call, outcome, facts),
        Input::Proposed { call, diff } => scene.proposed(call, diff),
        Input::Judged(judged, call) => scene.judged(*judged, call),
    }
}

/// What a decision rests on: nothing else is looked at.
#[derive(Clone, Copy)]
struct Scene<'a> {
    state: &'a State,
    rules: &'a Rules,
    tools: &'a Toolbox,
}

impl Scene<'_> {
    fn request(self, request: Request) -> Step {
        match request {
            Request::Say(text) => {
                let said = Step::fact(Author::User, Event::UserSaid { text });
                // Words said in the middle of a turn wait for its next prompt.
                if self.state.busy { said } else { said.then(self.prompt()) }
            }
            Request::SetAutonomy(autonomy) => {
                let set = Step::fact(Author::User, Event::AutonomySet { autonomy });
                set.then(self.rule_again(autonomy, &self.state.granted, None))
            }
            Request::Judge(gate) => Step::default().effect(Effect::Judge { gate, call: None }),
            Request::Answer { call, answer } => self.answer(&call, answer),
            // Comes in again as `Input::Edited` once the file has been read.
            Request::Edited { .. } => Step::default(),
            Request::Interrupt => self.interrupt(),
        }
    }

    /// A late key changes nothing: only a call that is asking can be answered.
    fn answer(self, id: &CallId, answer: Answer) -> Step {
        let Some(record) = self.state.call(id) else { return Step::default() };
        if !matches!(record.state, CallState::Asking { .. }) {
            return Step::default();
        }
        let answered = Event::Answered { call: id.clone(), answer: answer.clone() };
        let step = Step::fact(Author::User, answered);
        match answer {
            Answer::Reject { why } => step.then(self.end_call(id, ToolOutcome::Denied { why })),
            Answer::Stop => step.then(self.interrupt()),
            Answer::Once | Answer::Edited(_) | Answer::Hunks(_) => {
                step.then(self.go_ahead(&record.call, answer))
            }
            Answer::Always(ref grant) => {
                let granted = [self.state.granted.as_slice(), std::slice::from_ref(grant)].concat();
                let autonomy = self.state.autonomy;
                let step = step.then(self.go_ahead(&record.call, answer.clone()));
                step.then(self.rule_again(autonomy, &granted, Some(id)))
            }
        }
    }

    /// What still asks goes ahead if the slider, or a new grant, now allows it.
    fn rule_again(self, autonomy: Autonomy, granted: &[Grant], but: Option<&CallId>) -> Step {
        let asking = self.state.asking().filter(|(call, _)| Some(&call.id) != but);
        asking.fold(Step::default(), |step, (call, _)| {
            let Ok(footprint) = self.tools.footprint(call) else { return step };
            let ruling = rule(autonomy, self.rules, granted, &footprint);
            if !matches!(ruling, Ruling::Allow { .. }) {
                return step;
            }
            let ruled = Event::Ruled { call: call.id.clone(), ruling };
            let step = step.then(Step::fact(Author::System, ruled));
            step.then(start(call.clone(), Answer::Once, footprint))
        })
    }

    /// Ends the turn: what asks is stopped, what works is told to stop and will return.
    fn interrupt(self) -> Step {
        let mut step = Step::default();
        if self.state.replying {
            step = step.effect(Effect::StopPrompt);
        }
        for record in self.state.open_calls() {
            let id = record.call.id.clone();
            step = match record.state {
                CallState::Running => step.effect(Effect::StopCall(id)),
                _ => step.then(stopped(id)),
            };
        }
        if self.state.busy {
            step = step.then(Step::fact(Author::User, Event::TurnEnded));
        }
        step
    }

    /// What was at work is gone, what asks still asks. A turn that was on goes on.
    fn resumed(self) -> Step {
        let mut step = Step::default();
        let mut is_asking = false;
        for record in self.state.open_calls() {
            match record.state {
                CallState::Asking { .. } => {
                    is_asking = true;
                    if record.proposed.is_none() {
                        step = step.effect(Effect::Preview(record.call.clone()));
                    }
                }
                _ => step = step.then(stopped(record.call.id.clone())),
            }
        }
        if self.state.replying {
            step = step.then(Step::fact(Author::System, Event::Replied { usage: None }));
        }
        if self.state.busy && !is_asking {
            let text = "the session was opened again in the middle of a turn".to_owned();
            step = step.then(Step::note(Author::System, "resumed", text)).then(self.prompt());
        }
        step
    }

    /// A document was changed by a hand that is not ours; the next prompt tells the mind.
    fn edited(self, path: String, hash: Hash) -> Step {
        if self.state.documents.get(&path).is_some_and(|known| known.hash == hash) {
            return Step::default(); // Our own write, or one that is known already.
        }
        Step::fact(Author::User, Event::DocumentSaved { path, hash })
    }

    fn reply(self, prompt: PromptId, reply: Reply) -> Step {
        if !self.state.replying || prompt != self.state.prompt {
            return Step::default(); // Interrupted: nobody listens.
        }
        match reply {
            Reply::Draft(_) => Step::default(),
            Reply::Text(text) => Step::fact(Author::Agent, Event::AgentSaid { text }),
            Reply::Call(call) => self.call(call),
            Reply::Heard(call) => Step::fact(Author::Agent, Event::Heard { call }),
            Reply::Blocked(why) => Step::note(Author::Agent, "blocker", why),
            Reply::End { usage } => self.end(usage),
        }
    }

    fn call(self, call: ToolCall) -> Step {
        if self.state.call(&call.id).is_some() {
            let text = format!("the mind used the id `{}` twice; the call was dropped", call.id);
            return Step::note(Author::System, "warning", text);
        }
        let called = Step::fact(Author::Agent, Event::Called(call.clone()));
        let footprint = match self.tools.footprint(&call) {
            Ok(footprint) => footprint,
            Err(bad) => return called.then(self.end_call(&call.id, ToolOutcome::failed(bad.0))),
        };
        let ruling = rule(self.state.autonomy, self.rules, &self.state.granted, &footprint);
        let ruling = self.unattended(ruling);
        let ruled = Event::Ruled { call: call.id.clone(), ruling: ruling.clone() };
        let step = called.then(Step::fact(Author::System, ruled));
        match ruling {
            Ruling::Allow { .. } => step.then(start(call, Answer::Once, footprint)),
            Ruling::Ask { .. } if footprint.writes.is_empty() => step,
            Ruling::Ask { .. } => step.effect(Effect::Preview(call)),
            Ruling::Deny { why } => {
                let step = match self.rules.presence {
                    Presence::Attended => step,
                    Presence::Headless => {
                        let text = format!("`{}` was denied: {why}", call.tool);
                        step.then(Step::note(Author::System, "blocker", text))
                    }
                };
                step.then(self.end_call(&call.id, ToolOutcome::Denied { why }))
            }
        }
    }

    /// With nobody there, a question has its answer.
    fn unattended(self, ruling: Ruling) -> Ruling {
        match (self.rules.presence, ruling) {
            (Presence::Headless, Ruling::Ask { why }) => {
                Ruling::Deny { why: format!("nobody is here to be asked: it {why}") }
            }
            (_, ruling) => ruling,
        }
    }

    /// A reply is over: wait for its calls, show what is unread, or end the turn.
    fn end(self, usage: Option<Usage>) -> Step {
        let replied = Step::fact(Author::Agent, Event::Replied { usage });
        if self.state.open_calls().next().is_some() {
            return replied;
        }
        if self.state.unread != Unread::default() {
            return replied.then(self.prompt());
        }
        replied.then(Step::fact(Author::System, Event::TurnEnded))
    }

    /// What a call brought about is told before its end: a log that is cut between the two has the
    /// call running, and it is done again; the other way round the facts would be lost.
    fn returned(self, id: &CallId, outcome: ToolOutcome, facts: Vec<Event>) -> Step {
        let Some(record) = self.state.call(id) else { return Step::default() };
        if !matches!(record.state, CallState::Running) {
            return Step::default(); // Already over: a call ends once.
        }
        let footprint = self.tools.footprint(&record.call).unwrap_or_default();
        let told = facts.into_iter().map(|fact| brought(&record.call, &footprint, fact));
        told.fold(Step::default(), Step::then).then(self.end_call(id, outcome))
    }

    /// A judgement is a fact, whoever asked; it also closes the call that asked.
    fn judged(self, judged: Judged, call: Option<CallId>) -> Step {
        let outcome = judged.outcome();
        let step = Step::fact(Author::Evaluator, judged.into());
        match call {
            Some(id) if self.state.is_running(&id) => step.then(self.end_call(&id, outcome)),
            _ => step,
        }
    }

    /// Starts a call that was answered.
    fn go_ahead(self, call: &ToolCall, answer: Answer) -> Step {
        match self.tools.footprint(call) {
            Ok(footprint) => start(call.clone(), answer, footprint),
            Err(bad) => self.end_call(&call.id, ToolOutcome::failed(bad.0)),
        }
    }

    /// What comes after the answer comes too late to be looked at.
    fn proposed(self, call: CallId, diff: Artifact) -> Step {
        let asks = |record: &CallRecord| matches!(record.state, CallState::Asking { .. });
        if !self.state.call(&call).is_some_and(asks) {
            return Step::default();
        }
        Step::fact(Author::System, Event::Proposed { call, diff })
    }

    /// A call is over: a mind that is replying may hear of it; else the last one brings it back.
    fn end_call(self, id: &CallId, outcome: ToolOutcome) -> Step {
        let is_last = self.state.open_calls().all(|record| record.call.id == *id);
        let (call, told) = (id.clone(), outcome.clone());
        let step = Step::fact(Author::System, Event::Returned { call, outcome });
        match (self.state.busy, self.state.replying) {
            (true, true) => step.effect(Effect::Deliver { call: id.clone(), outcome: told }),
            (true, false) if is_last => step.then(self.prompt()),
            _ => step,
        }
    }

    fn prompt(self) -> Step {
        let prompt = self.state.prompt.next();
        Step::fact(Author::System, Event::Prompted { prompt }).effect(Effect::Prompt(prompt))
    }
}

/// Starts a call that may go ahead: a judgement is the evaluator's work, the rest the tool's.
fn start(call: ToolCall, answer: Answer, footprint: Footprint) -> Step {
    let effect = match footprint.judges {
        Some(gate) => Effect::Judge { gate, call: Some(call.id) },
        None => Effect::Run { call, answer },
    };
    Step::default().effect(effect)
}

/// A call is over, and nobody need hear of it now.
fn stopped(call: CallId) -> Step {
    let outcome = ToolOutcome::Stopped;
    Step::fact(Author::System, Event::Returned { call, outcome })
}
