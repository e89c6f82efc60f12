//! Starts effects. The only place where a session's work begins; dropping it ends all of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::brief;
use super::effect::Effect;
use super::judge::Judge;
use super::live::Live;
use super::request::Input;
use super::undo::Undo;
use super::update::Update;
use crate::agent::{Driver, Reply, ReplyStream};
use crate::base::{CallId, GateId, Progress, PromptId, Stop, StopGuard};
use crate::session::{Answer, State, ToolCall, ToolOutcome};
use crate::tools::{Kit, Ran, Tool};

/// Where work tells what it came to, and what it says meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Ears {
    pub inputs: mpsc::Sender<Input>,
    /// May be lost when nobody keeps up.
    pub drafts: mpsc::Sender<Update>,
}

pub(super) struct Performer {
    driver: Box<dyn Driver>,
    kit: Kit,
    judge: Judge,
    undo: Undo,
    ears: Ears,
    reply: Option<Replying>,
    work: BTreeMap<CallId, Working>,
    /// Judgements that a face asked for.
    asked: BTreeMap<GateId, Working>,
}

struct Replying {
    outcomes: mpsc::UnboundedSender<(CallId, ToolOutcome)>,
    _task: AbortOnDropHandle<()>,
}

/// Work that a call waits for: dropped, it is cut off.
struct Working {
    /// A tool that is told to stop comes to an end by itself and tells which. The evaluator's
    /// process has none: it is killed.
    stop: Option<StopGuard>,
    _task: AbortOnDropHandle<()>,
}

impl Performer {
    pub(super) fn new(
        driver: Box<dyn Driver>,
        kit: Kit,
        judge: Judge,
        undo: Undo,
        ears: Ears,
    ) -> Self {
        let (work, asked) = (BTreeMap::new(), BTreeMap::new());
        Self { driver, kit, judge, undo, ears, reply: None, work, asked }
    }

    pub(super) fn start(&mut self, effect: Effect, live: &Live) {
        match effect {
            Effect::Prompt(id) => self.prompt(id, live),
            Effect::Deliver { call, outcome } => {
                if let Some(reply) = &self.reply {
                    let _ = reply.outcomes.send((call, outcome)); // It may not be listening.
                }
            }
            Effect::Preview(call) => self.preview(call, live),
            Effect::Run { call, answer } => self.run(call, answer, live),
            Effect::Judge { gate, call } => self.judge(gate, call, live.state()),
            Effect::StopCall(call) => self.stop(call),
            Effect::StopPrompt => self.reply = None,
        }
    }

    /// A call has ended, and the log knows it: what was kept for it is needed no more.
    pub(super) fn ended(&mut self, call: &CallId) {
        self.work.remove(call);
        self.undo.forget(call);
    }

    /// Ends all work: whatever it comes to, nobody can write it down.
    pub(super) fn end(&mut self) {
        self.reply = None;
        self.work.clear();
        self.asked.clear();
    }

    fn prompt(&mut self, id: PromptId, live: &Live) {
        let (outcomes, heard) = mpsc::unbounded_channel();
        let tools = Arc::new(live.tools().specs());
        let prompt = brief::prompt(id, Arc::new(live.state().clone()), tools, live.skills());
        let stream = self.driver.reply(prompt, heard);
        let task = tokio::spawn(listen(id, stream, self.ears.clone()));
        self.reply = Some(Replying { outcomes, _task: AbortOnDropHandle::new(task) });
    }

    /// The change is kept before it is told. One that cannot be told is not missed: the call's own
    /// arguments are there.
    fn preview(&mut self, call: ToolCall, live: &Live) {
        let Ok(tool) = live.tools().find(&call.tool).map(Arc::clone) else { return };
        let (kit, ears, id) = (self.kit.clone(), self.ears.clone(), call.id.clone());
        let task = tokio::spawn(async move {
            let id = call.id.clone();
            let look = move || {
                let patch = tool.preview(&call, &kit)?;
                kit.artifacts.put("diff", patch.headline(), &patch.to_bytes()).ok()
            };
            if let Ok(Some(diff)) = tokio::task::spawn_blocking(look).await {
                let _ = ears.inputs.send(Input::Proposed { call: id, diff }).await;
            }
        });
        let working = Working { stop: None, _task: AbortOnDropHandle::new(task) };
        self.work.insert(id, working);
    }

    fn run(&mut self, call: ToolCall, answer: Answer, live: &Live) {
        let (stop_guard, stop) = Stop::guarded();
        let id = call.id.clone();
        let tool = live.tools().find(&call.tool).map(Arc::clone);
        let writes = Undo::places(&live.tools().footprint(&call).unwrap_or_default().writes);
        let (undo, ears) = (self.undo.clone(), self.ears.clone());
        let kit = self.kit.clone().with_progress(drafts(&id, &self.ears.drafts));
        let task = tokio::spawn(async move {
            let ran = match tool {
                Ok(tool) => {
                    let kept = {
                        let (id, undo) = (call.id.clone(), undo.clone());
                        let keep = move || undo.keep(&id, &writes);
                        tokio::task::spawn_blocking(keep).await
                    };
                    match kept {
                        Ok(Ok(())) => carry_out(tool, call.clone(), answer, kit, stop).await,
                        Ok(Err(error)) => ToolOutcome::failed(error.to_string()).into(),
                        Err(_) => return, // The program is going down.
                    }
                }
                Err(bad) => ToolOutcome::failed(bad.0).into(),
            };
            let Ran { outcome, facts } = ran;
            let _ = ears.inputs.send(Input::Returned { call: call.id, outcome, facts }).await;
        });
        let working = Working { stop: Some(stop_guard), _task: AbortOnDropHandle::new(task) };
        self.work.insert(id, working);
    }

    fn stop(&mut self, call: CallId) {
        let Some(working) = self.work.get_mut(&call) else { return };
        if working.stop.take().is_some() {
            return;
        }
        self.work.remove(&call);
        let inputs = self.ears.inputs.clone();
        let returned = Input::Returned { call, outcome: ToolOutcome::Stopped, facts: Vec::new() };
        tokio::spawn(async move { inputs.send(returned).await });
    }

    fn judge(&mut self, gate: GateId, call: Option<CallId>, state: &State) {
        let (judge, ears) = (self.judge.clone(), self.ears.clone());
        let progress = match &call {
            Some(call) => drafts(call, &self.ears.drafts),
            None => drafts(&CallId::from(gate.as_str()), &self.ears.drafts),
        };
        let (phase, seed) = (state.phase, state.seed);
        let (asked, id) = (gate.clone(), call.clone());
        let task = tokio::spawn(async move {
            let input = match judge.judge(gate, phase, seed, &progress).await {
                Ok(judged) => Input::Judged(Box::new(judged), call),
                // Nobody was there to judge: not a verdict, so the call failed.
                Err(why) => match call {
                    Some(call) => {
                        let outcome = ToolOutcome::failed(why);
                        Input::Returned { call, outcome, facts: Vec::new() }
                    }
                    None => return progress.say(&why),
                },
            };
            let _ = ears.inputs.send(input).await;
        });
        let working = Working { stop: None, _task: AbortOnDropHandle::new(task) };
        match id {
            Some(id) => self.work.insert(id, working).map(drop),
            None => self.asked.insert(asked, working).map(drop),
        };
    }
}

/// Runs a tool to its end, whatever that is: one that panics has failed.
async fn carry_out(
    tool: Arc<dyn Tool>,
    call: ToolCall,
    answer: Answer,
    kit: Kit,
    stop: Stop,
) -> Ran {
    let name = call.tool.clone();
    let task = tokio::spawn(async move { tool.run(call, answer, kit, stop).await });
    match AbortOnDropHandle::new(task).await {
        Ok(ran) => ran,
        Err(error) if error.is_panic() => {
            let why = format!("`{name}` broke down: that is a fault of ours, please report it");
            ToolOutcome::failed(why).into()
        }
        Err(_) => ToolOutcome::Stopped.into(),
    }
}

/// Passes on what a mind says. A stream that ends without saying so has broken off.
async fn listen(prompt: PromptId, mut stream: ReplyStream, ears: Ears) {
    while let Some(reply) = stream.next().await {
        if let Reply::Draft(text) = reply {
            let _ = ears.drafts.try_send(Update::Saying(text));
            continue;
        }
        let is_end = matches!(reply, Reply::End { .. });
        if ears.inputs.send(Input::Reply { prompt, reply }).await.is_err() || is_end {
            return;
        }
    }
    let why = "the mind broke off in the middle of a reply".to_owned();
    for reply in [Reply::Blocked(why), Reply::End { usage: None }] {
        let _ = ears.inputs.send(Input::Reply { prompt, reply }).await;
    }
}

fn drafts(call: &CallId, to: &mpsc::Sender<Update>) -> Progress {
    let (words, samples, call) = (to.clone(), to.clone(), call.clone());
    Progress::to(
        move |said| {
            let (call, words_said) = (call.clone(), said.to_owned());
            let _ = words.try_send(Update::Working { call, words: words_said });
        },
        move |sample| {
            let _ = samples.try_send(Update::Sample(sample.clone()));
        },
    )
}
