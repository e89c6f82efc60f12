//! The state of a session: the fold of its log, and the only reader of events.

use std::collections::{BTreeMap, BTreeSet};

use super::artifact::Artifact;
use super::autonomy::Autonomy;
use super::call::{Answer, Ruling, ToolCall, ToolOutcome};
use super::entry::{Author, Entry};
use super::event::{Event, Usage};
use super::grant::Grant;
use super::judged::Judged;
use super::phase::Phase;
use super::trajectory::Trajectory;
use super::transcript::{Item, Transcript};
use crate::base::{CallId, GateId, Hash, PromptId, Time};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub model: String,
    pub target: String,
    pub agent: String,
    pub seq: usize,
    pub tokens: usize,
    pub seed: u64,
    /// When the first and the last fact were written.
    pub began: Time,
    pub last: Time,
    /// How many facts were taken in.
    pub facts: u64,
    pub autonomy: Autonomy,
    pub phase: Phase,
    /// A turn is going on.
    pub busy: bool,
    /// The last prompt.
    pub prompt: PromptId,
    /// A mind owes a reply to the last prompt.
    pub replying: bool,
    pub unread: Unread,
    /// Every call, in the order in which they were made.
    pub calls: Vec<CallRecord>,
    /// The last judgement of every gate. Stale if its snapshot is not the present one.
    pub gates: BTreeMap<GateId, Judged>,
    /// Every judgement, with the fact that brought it.
    pub judgements: Vec<(u64, Judged)>,
    pub transcript: Transcript,
    pub documents: BTreeMap<String, DocumentState>,
    pub granted: Vec<Grant>,
    pub trajectory: Trajectory,
    pub usage: Usage,
    /// Skills that were put before the mind, and why.
    pub skills: Vec<(String, String)>,
    /// When each phase was entered.
    pub phases: Vec<(Phase, Time)>,
    /// How often a person approved, steered, fixed or briefed: "almost no guidance" as a number.
    pub interventions: BTreeMap<String, u64>,
    pub snapshot: Option<Hash>,
    /// What a person is needed for, if the session cannot go on alone.
    pub blocker: Option<String>,
    pub forked: bool,
}

/// What no mind has seen. The next prompt brings all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// The user has spoken.
    pub words: bool,
    pub outcomes: BTreeSet<CallId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentState {
    pub hash: Hash,
    pub by: Author,
    pub seq: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    pub call: ToolCall,
    pub seq: u64,
    pub state: CallState,
    /// What a person said of it, if it asked: tells a person's no from the policy's.
    pub answer: Option<Answer>,
    /// The change that it would make, if that could be told when it asked.
    pub proposed: Option<Artifact>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CallState {
    Called,
    Asking { why: String },
    Running,
    Ended(ToolOutcome),
}

impl State {
    pub fn replay<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut state = Self::default();
        entries.into_iter().for_each(|entry| state.apply(entry));
        state
    }

    /// Takes in one fact. Never fails, never acts: the same log gives the same state.
    pub fn apply(&mut self, entry: &Entry) {
        if self.facts == 0 {
            self.began = entry.at;
        }
        self.facts = entry.seq + 1;
        self.last = entry.at;
        let seq = entry.seq;
        match &entry.event {
            Event::Opened { model, target, agent, seq, tokens, seed, .. } => {
                (self.model, self.target) = (model.clone(), target.clone());
                (self.agent, self.seq) = (agent.clone(), *seq);
                (self.tokens, self.seed) = (*tokens, *seed);
            }
            Event::AutonomySet { autonomy } => self.autonomy = *autonomy,
            Event::UserSaid { text } => {
                self.busy = true;
                self.unread.words = true;
                self.blocker = None;
                self.count(if self.facts < 8 { "brief" } else { "steer" });
                self.transcript.push(seq, Item::User(text.clone()));
            }
            Event::Prompted { prompt } => {
                self.prompt = *prompt;
                self.replying = true;
                self.unread = Unread::default();
            }
            Event::Replied { usage } => {
                self.replying = false;
                self.spend(usage.unwrap_or_default());
            }
            Event::AgentSaid { text } => self.transcript.push(seq, Item::Agent(text.clone())),
            Event::Called(call) => {
                let state = CallState::Called;
                let (call_id, call) = (call.id.clone(), call.clone());
                self.calls.push(CallRecord { call, seq, state, answer: None, proposed: None });
                self.transcript.push(seq, Item::Call(call_id));
            }
            Event::Ruled { call, ruling } => self.apply_ruling(call, ruling),
            Event::Proposed { call, diff } => {
                if let Some(record) = self.record(call) {
                    record.proposed = Some(diff.clone());
                }
            }
            Event::Answered { call, answer } => self.apply_answer(call, answer),
            Event::Returned { call, outcome } => {
                self.set(call, CallState::Ended(outcome.clone()));
                self.unread.outcomes.insert(call.clone());
            }
            Event::Heard { call } => {
                self.unread.outcomes.remove(call);
            }
            Event::Judged(judged) => {
                let Judged { gate, verdict, headline, .. } = &**judged;
                let (gate, headline) = (gate.clone(), headline.clone());
                self.gates.insert(gate.clone(), (**judged).clone());
                self.judgements.push((seq, (**judged).clone()));
                self.transcript.push(seq, Item::Judged { gate, verdict: *verdict, headline });
            }
            Event::PhaseEntered { phase } => {
                self.phase = *phase;
                self.phases.push((*phase, entry.at));
                self.transcript.push(seq, Item::Phase(*phase));
            }
            Event::SkillRead { skill, why } => {
                self.skills.push((skill.clone(), why.clone()));
                let (skill, why) = (skill.clone(), why.clone());
                self.transcript.push(seq, Item::Skill { skill, why });
            }
            Event::DocumentSaved { path, hash } => {
                let saved = DocumentState { hash: hash.clone(), by: entry.by, seq };
                self.documents.insert(path.clone(), saved);
                if entry.by == Author::User {
                    self.count("fix");
                }
                let (path, by) = (path.clone(), entry.by);
                self.transcript.push(seq, Item::Document { path, by });
            }
            Event::Snapshotted { snapshot, .. } => self.snapshot = Some(snapshot.clone()),
            Event::Profiled(profiled) => self.trajectory.apply(seq, profiled),
            Event::ToleranceChanged { gate, .. } => {
                self.gates.remove(gate); // Judged under another claim: it must be judged again.
            }
            Event::Forked { .. } => self.forked = true,
            Event::TurnEnded => {
                self.busy = false;
                self.replying = false;
            }
            Event::Noted { kind, text, artifacts } => {
                if kind == "blocker" {
                    self.blocker = Some(text.clone());
                }
                let (kind, text, artifacts) = (kind.clone(), text.clone(), artifacts.clone());
                self.transcript.push(seq, Item::Note { kind, text, artifacts });
            }
            Event::Remembered { .. } | Event::Unknown { .. } => (),
        }
    }

    pub fn call(&self, id: &CallId) -> Option<&CallRecord> {
        self.calls.iter().rev().find(|record| record.call.id == *id)
    }

    /// The calls that have not ended, oldest first.
    pub fn open_calls(&self) -> impl Iterator<Item = &CallRecord> {
        self.calls.iter().filter(|record| !matches!(record.state, CallState::Ended(_)))
    }

    /// The calls that wait for a person, oldest first.
    pub fn asking(&self) -> impl Iterator<Item = (&ToolCall, &str)> {
        self.calls.iter().filter_map(|record| match &record.state {
            CallState::Asking { why } => Some((&record.call, why.as_str())),
            _ => None,
        })
    }

    pub fn is_running(&self, call: &CallId) -> bool {
        self.call(call).is_some_and(|record| matches!(record.state, CallState::Running))
    }

    fn apply_ruling(&mut self, id: &CallId, ruling: &Ruling) {
        // A call that asks is ruled again when the slider moves or something was granted.
        let is_open =
            |state: &CallState| matches!(state, CallState::Called | CallState::Asking { .. });
        if !self.call(id).is_some_and(|record| is_open(&record.state)) {
            return;
        }
        match ruling {
            Ruling::Allow { .. } => self.set(id, CallState::Running),
            Ruling::Ask { why } => self.set(id, CallState::Asking { why: why.clone() }),
            Ruling::Deny { .. } => (), // `Returned` follows.
        }
    }

    fn apply_answer(&mut self, id: &CallId, answer: &Answer) {
        if !self.call(id).is_some_and(|record| matches!(record.state, CallState::Asking { .. })) {
            return;
        }
        self.count(match answer {
            Answer::Once | Answer::Always(_) | Answer::Hunks(_) => "approve",
            Answer::Edited(_) => "fix",
            Answer::Reject { .. } | Answer::Stop => "steer",
        });
        if let Some(record) = self.record(id) {
            record.answer = Some(answer.clone());
        }
        if let Answer::Always(grant) = answer {
            self.granted.push(grant.clone());
        }
        match answer {
            Answer::Once | Answer::Always(_) | Answer::Edited(_) | Answer::Hunks(_) => {
                self.set(id, CallState::Running);
            }
            Answer::Reject { .. } | Answer::Stop => (), // `Returned` follows.
        }
    }

    fn set(&mut self, id: &CallId, state: CallState) {
        if let Some(record) = self.record(id) {
            record.state = state;
        }
    }

    fn record(&mut self, id: &CallId) -> Option<&mut CallRecord> {
        self.calls.iter_mut().rev().find(|record| record.call.id == *id)
    }

    fn count(&mut self, kind: &str) {
        *self.interventions.entry(kind.to_owned()).or_default() += 1;
    }

    fn spend(&mut self, usage: Usage) {
        self.usage.input_tokens += usage.input_tokens;
        self.usage.output_tokens += usage.output_tokens;
        if let Some(cents) = usage.cents {
            *self.usage.cents.get_or_insert(0.0) += cents;
        }
    }
}
