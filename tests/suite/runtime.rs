//! A live session with a person at it: asked, answered, edited beside, slid, stopped, resumed.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pilotfish::base::{CallId, GateId, Ids, StillClock, Time};
use pilotfish::policy::Presence;
use pilotfish::runtime::{self, Feed, Handle, OpenError, Opened, Request, Update, World};
use pilotfish::session::{
    Answer, Artifacts, Author, Autonomy, CallState, Entry, Event, Judged, LogError, State,
    ToolOutcome,
};
use pilotfish::workspace::{Patch, Settings};
use tokio::time::timeout;

use crate::room::Room;

/// Nothing here takes so long, but on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(2);

/// Tools whose change is shown before it is made.
const SHOWN: [&str; 3] = ["write_document", "apply_move", "note"];

fn world(presence: Presence) -> World {
    World {
        clock: Arc::new(StillClock(Time::from_millis(1_767_268_800_000))),
        ids: Arc::new(Ids::seeded(1)),
        exe: PathBuf::from(env!("CARGO_BIN_EXE_pilotfish")),
        presence,
        skills: None,
        workspaces: Vec::new(),
        recordings: Vec::new(),
    }
}

fn settings(autonomy: Autonomy) -> Settings {
    Settings { autonomy: autonomy.name().to_owned(), ..Settings::of("tiny-llama") }
}

/// What a person at the screen sees.
struct Seat {
    handle: Handle,
    feed: Feed,
}

impl Seat {
    async fn take(opened: Opened) -> Self {
        assert_eq!(opened.findings, []);
        let feed = opened.handle.subscribe().await.unwrap();
        Self { handle: opened.handle, feed }
    }

    async fn at(room: &Room, autonomy: Autonomy) -> Self {
        let opened =
            runtime::create(&room.workspace(), &settings(autonomy), &world(Presence::Attended));
        Self::take(opened.unwrap()).await
    }

    fn state(&self) -> &State {
        &self.feed.state
    }

    /// Takes in updates until the state, or an update, is what is waited for.
    async fn until(&mut self, mut is_it: impl FnMut(&State, Option<&Update>) -> bool) {
        let listen = async {
            let mut last = None;
            while !is_it(&self.feed.state, last.as_ref()) {
                let update = self.feed.updates.recv().await.expect("the session goes on");
                if let Update::Fact(fact) = &update {
                    self.feed.state.apply(fact);
                    self.feed.past.push(Arc::clone(fact));
                }
                assert!(!matches!(update, Update::Broken(_)), "{update:?}");
                last = Some(update);
            }
        };
        let waited = timeout(PATIENCE, listen).await;
        assert!(waited.is_ok(), "{:#?}", self.feed.state.transcript.items.last());
    }

    async fn idle(&mut self) {
        self.until(|_, update| matches!(update, Some(Update::Idle))).await;
    }

    /// Waits until a call asks, or nothing more happens; the call and what it would change.
    async fn asked(&mut self) -> Option<(CallId, String)> {
        self.until(|state, update| {
            let shown = |call: &CallId, tool: &str| {
                let record = state.call(call).unwrap();
                record.proposed.is_some() || !SHOWN.contains(&tool)
            };
            let asks = state.asking().next().is_some_and(|(call, _)| shown(&call.id, &call.tool));
            asks || matches!(update, Some(Update::Idle))
        })
        .await;
        let call = self.feed.state.asking().next()?.0;
        Some((call.id.clone(), call.tool.clone()))
    }

    async fn answer(&mut self, call: &CallId, answer: Answer) {
        self.handle.send(Request::Answer { call: call.clone(), answer }).await.unwrap();
        self.until(|state, _| state.asking().all(|(other, _)| other.id != *call)).await;
    }

    fn facts<'a>(&'a self, mut is_it: impl FnMut(&Event) -> bool + 'a) -> Vec<&'a Entry> {
        let facts = self.feed.past.iter().map(|fact| &**fact);
        facts.filter(|fact| is_it(&fact.event)).collect()
    }

    fn ended(&self, call: &CallId) -> &ToolOutcome {
        match &self.state().call(call).unwrap().state {
            CallState::Ended(outcome) => outcome,
            other => panic!("{call}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_is_shown_before_and_done_as_shown() {
    let room = Room::with_short_road();
    let mut seat = Seat::at(&room, Autonomy::Guide).await;
    let artifacts = Artifacts::of(seat.handle.folder());
    let mut asked = Vec::new();
    while let Some((call, tool)) = seat.asked().await {
        let proposed = seat.state().call(&call).unwrap().proposed.clone();
        let Some(diff) = proposed else {
            assert!(!SHOWN.contains(&tool.as_str()), "{tool}");
            seat.answer(&call, Answer::Once).await;
            continue;
        };
        let patch = Patch::parse(&artifacts.read(&diff.hash).unwrap()).unwrap();
        let place = room.workspace().join(patch.path.as_str());
        let before = fs::read(&place).unwrap_or_default();
        seat.answer(&call, Answer::Once).await;
        seat.until(|state, _| matches!(state.call(&call).unwrap().state, CallState::Ended(_)))
            .await;
        let after = patch.apply(&before).unwrap();
        let now = fs::read_to_string(&place).unwrap();
        assert_eq!(now, String::from_utf8(after).unwrap(), "{tool} {}", diff.headline);
        asked.push(tool);
    }
    assert!(SHOWN.iter().all(|tool| asked.iter().any(|it| it == tool)), "{asked:?}");
    assert!(seat.state().interventions["approve"] >= asked.len() as u64);
    assert!(seat.state().blocker.is_none(), "{:?}", seat.state().blocker);
    // The fact that shows it stands between the question and the answer.
    for record in seat.state().calls.iter().filter(|record| record.proposed.is_some()) {
        let id = &record.call.id;
        let seq = |is_it: fn(&Event, &CallId) -> bool| {
            seat.facts(|event| is_it(event, id)).first().map(|fact| fact.seq)
        };
        let ruled = seq(|event, id| matches!(event, Event::Ruled { call, .. } if call == id));
        let shown = seq(|event, id| matches!(event, Event::Proposed { call, .. } if call == id));
        let answered = seq(|event, id| matches!(event, Event::Answered { call, .. } if call == id));
        assert!(ruled < shown && shown < answered, "{ruled:?} {shown:?} {answered:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_changes_nothing_and_words_go_on() {
    let room = Room::with_short_road();
    let mut seat = Seat::at(&room, Autonomy::Edit).await;
    let (call, tool) = seat.asked().await.unwrap();
    assert_eq!(tool, "enter_phase");
    let why = "not before lunch".to_owned();
    seat.answer(&call, Answer::Reject { why: why.clone() }).await;
    seat.idle().await;
    assert_eq!(*seat.ended(&call), ToolOutcome::Denied { why });
    assert!(seat.state().blocker.as_ref().unwrap().contains("not before lunch"));
    assert!(seat.state().phases.is_empty());
    // A late key finds nothing to answer.
    let facts = seat.state().facts;
    let late = Request::Answer { call: call.clone(), answer: Answer::Once };
    seat.handle.send(late).await.unwrap();
    seat.handle.send(Request::Say("now".into())).await.unwrap();
    let (again, tool) = seat.asked().await.unwrap();
    assert_eq!(tool, "enter_phase");
    assert_ne!(again, call);
    let said = seat.feed.past.iter().find(|fact| fact.seq == facts).unwrap();
    assert_eq!(said.event, Event::UserSaid { text: "now".into() });
    seat.answer(&again, Answer::Once).await;
    seat.idle().await;
    assert!(seat.state().blocker.is_none() && !seat.state().phases.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_slider_moves_in_the_middle_of_a_turn() {
    let room = Room::with_short_road();
    let mut seat = Seat::at(&room, Autonomy::Observe).await;
    let (call, _) = seat.asked().await.unwrap();
    seat.handle.send(Request::SetAutonomy(Autonomy::Auto)).await.unwrap();
    seat.idle().await;
    assert!(matches!(seat.ended(&call), ToolOutcome::Done { .. }));
    assert_eq!(seat.state().interventions.get("approve"), None);
    assert!(seat.state().gates.values().all(Judged::passed));
    assert!(
        fs::read_to_string(room.workspace().join("plan.md")).unwrap().contains("- [x] Phase 0")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_by_hand_is_noticed_told_and_kept() {
    let room = Room::with_short_road();
    let mut seat = Seat::at(&room, Autonomy::Edit).await;
    let (call, _) = seat.asked().await.unwrap();
    // 1. While the session waits, in another editor.
    let place = room.workspace().join("plan.md");
    let text = fs::read_to_string(&place).unwrap();
    fs::write(&place, format!("{text}\nMine: look at the floor first.\n")).unwrap();
    let by_hand = |state: &State| state.documents["plan.md"].by == Author::User;
    seat.until(|state, _| by_hand(state)).await;
    assert_eq!(seat.state().interventions["fix"], 1);
    seat.answer(&call, Answer::Once).await;
    seat.idle().await;
    let plan = fs::read_to_string(&place).unwrap();
    assert!(
        plan.contains("Mine: look at the floor first.") && plan.contains("- [x] Phase 0"),
        "{plan}"
    );
    let own = seat.facts(|event| matches!(event, Event::DocumentSaved { .. }));
    assert!(own.iter().filter(|fact| fact.by == Author::User).count() == 1, "{own:#?}");
    // 2. While nobody looked.
    let folder = seat.handle.folder().to_owned();
    drop(seat);
    fs::write(&place, format!("{plan}\nMine again.\n")).unwrap();
    let mut seat = Seat::take(reopened(&folder, &world(Presence::Attended)).await).await;
    seat.until(|state, _| by_hand(state)).await;
    assert_eq!(seat.state().interventions["fix"], 2);
}

/// Opens a session again whose handle was dropped a moment ago: its task may still be ending.
async fn reopened(folder: &std::path::Path, world: &World) -> Opened {
    let open = async {
        loop {
            match runtime::resume(folder, None, world) {
                Err(OpenError::Log(LogError::Locked { .. })) => tokio::task::yield_now().await,
                opened => return opened.unwrap(),
            }
        }
    };
    timeout(PATIENCE, open).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_interrupted_and_goes_on_where_it_was() {
    let room = Room::with_short_road();
    let mut seat = Seat::at(&room, Autonomy::Guide).await;
    let (call, _) = seat.asked().await.unwrap();
    seat.handle.send(Request::Interrupt).await.unwrap();
    seat.idle().await;
    assert_eq!(*seat.ended(&call), ToolOutcome::Stopped);
    assert!(!seat.state().busy && seat.state().asking().next().is_none());
    // One session has one writer.
    let folder = seat.handle.folder().to_owned();
    let second = runtime::resume(&folder, None, &world(Presence::Attended));
    assert!(matches!(second, Err(OpenError::Log(LogError::Locked { .. }))));
    drop(seat);
    let mut seat = Seat::take(reopened(&folder, &world(Presence::Attended)).await).await;
    seat.handle.send(Request::SetAutonomy(Autonomy::Auto)).await.unwrap();
    seat.handle.send(Request::Say("go on".into())).await.unwrap();
    seat.until(|state, _| state.busy).await;
    seat.idle().await;
    assert!(seat.state().gates.contains_key(&GateId::from("legality")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_outlives_the_process_that_asked_it() {
    let room = Room::with_short_road();
    let mut seat = Seat::at(&room, Autonomy::Guide).await;
    let (call, _) = seat.asked().await.unwrap();
    let folder = seat.handle.folder().to_owned();
    drop(seat);
    let mut seat = Seat::take(reopened(&folder, &world(Presence::Attended)).await).await;
    assert_eq!(seat.asked().await.unwrap().0, call);
    seat.answer(&call, Answer::Once).await;
    seat.until(|state, _| matches!(state.call(&call).unwrap().state, CallState::Ended(_))).await;
    assert!(matches!(seat.ended(&call), ToolOutcome::Done { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_face_has_a_gate_judged_by_the_other_process() {
    let room = Room::with_short_road();
    let mut seat = Seat::at(&room, Autonomy::Observe).await;
    seat.asked().await.unwrap();
    seat.handle.send(Request::Judge("scope".into())).await.unwrap();
    seat.until(|state, _| !state.judgements.is_empty()).await;
    let judged = seat.facts(|event| matches!(event, Event::Judged(_)));
    assert_eq!(judged[0].by, Author::Evaluator);
    let (_, scope) = &seat.state().judgements[0];
    assert!(scope.passed(), "{}", scope.headline);
    let receipt = room.workspace().join(format!(".pilotfish/receipts/{}.json", scope.receipt));
    assert!(receipt.is_file());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluator_that_dies_is_no_pass() {
    let room = Room::with_short_road();
    let program = room.path().join("dies");
    fs::write(&program, "#!/bin/sh\nread request; echo nonsense; exit 3\n").unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let world = World { exe: program, ..world(Presence::Attended) };
    let opened = runtime::create(&room.workspace(), &settings(Autonomy::Auto), &world).unwrap();
    let mut seat = Seat::take(opened).await;
    seat.idle().await;
    let scope = &seat.state().gates[&GateId::from("scope")];
    assert!(scope.failed() && scope.headline.contains("not judged"), "{}", scope.headline);
    assert!(seat.state().blocker.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_says_again_what_its_mind_said() {
    let room = Room::with_short_road();
    let mut seat = Seat::at(&room, Autonomy::Auto).await;
    seat.idle().await;
    let folder = seat.handle.folder().to_owned();
    let calls =
        |state: &State| state.calls.iter().map(|record| record.call.clone()).collect::<Vec<_>>();
    let said = calls(seat.state());
    drop(seat);
    let other = Room::with_short_road();
    let mut again = settings(Autonomy::Auto);
    again.agent = format!("replay:{}", folder.display());
    let opened = runtime::create(&other.workspace(), &again, &world(Presence::Attended)).unwrap();
    let mut seat = Seat::take(opened).await;
    seat.idle().await;
    assert_eq!(calls(seat.state()), said);
    let text =
        |room: &Room| fs::read_to_string(room.workspace().join("program/decode.toml")).unwrap();
    assert_eq!(text(&other), text(&room));
}
