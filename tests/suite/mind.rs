//! The built-in mind on its recipes, in a world that answers every call by rule.

use pilotfish::agent::{Playbook, Reply};
use pilotfish::base::{Hash, Time};
use pilotfish::session::{
    Answer, Author, Entry, Event, Judged, Metric, Phase, Ruling, State, ToolCall, ToolOutcome,
    Verdict,
};
use pilotfish::skills::{Known, Library, Task, check};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the world does of its own accord.
#[derive(Clone, Default)]
pub(crate) struct World {
    /// Moves in force by stage: name, site, gain.
    made: BTreeMap<String, Vec<(String, String, f64)>>,
    /// The n-th move that is proposed is rejected by a person.
    reject: Option<usize>,
    proposed: usize,
    rejected: Option<Value>,
    /// A gate fails while a move of this name is in force, by this metric.
    spoils: Option<(&'static str, &'static str, &'static str)>,
    /// A move that the array refuses, with the words of the refusal.
    refused: Option<(&'static str, &'static str)>,
    documents: BTreeMap<String, Vec<(String, String)>>,
    /// The network has a sink, which additions on the array wear away.
    sink: bool,
}

/// Every move there is at first: name, site, gain in microseconds, category.
const MOVES: &[(&str, &str, f64, &str)] = &[
    ("make-static", "weights", 4000.0, "upload_us"),
    ("mark-intermediate", "values", 700.0, "upload_us"),
    ("move-to-npu", "attn", 1500.0, "host_us"),
    ("move-to-npu", "attn again", 1500.0, "host_us"),
    ("merge-dispatches", "attn_norm q", 300.0, "dispatch_us"),
    ("merge-dispatches", "o attn_out", 250.0, "dispatch_us"),
    ("merge-dispatches", "gate up", 200.0, "dispatch_us"),
    ("merge-dispatches", "gate up silu", 150.0, "dispatch_us"),
    ("retile", "gate", 90.0, "tile_us"),
    ("move-to-host", "attn_out", -200.0, "host_us"),
    ("move-to-host", "hidden", -200.0, "host_us"),
];

/// The parts of what a move does: each word of its site is one.
fn does(site: &str) -> Vec<String> {
    site.split(' ').map(str::to_owned).collect()
}

impl World {
    pub(crate) fn with_a_sink() -> Self {
        Self { sink: true, ..Self::default() }
    }

    fn cost(&self, stage: &str) -> Value {
        let mut cost = BTreeMap::from([
            ("dispatch_us", 2000.0),
            ("upload_us", 6000.0),
            ("tile_us", 1000.0),
            ("host_us", 3000.0),
        ]);
        for (name, site, gain) in self.made.get(stage).into_iter().flatten() {
            let row = MOVES.iter().find(|row| row.0 == name && row.1 == site).unwrap();
            *cost.get_mut(row.3).unwrap() -= gain;
        }
        let total: f64 = cost.values().sum();
        json!({ "cost": cost, "total_us": total, "floor_us": 500.0, "bottleneck": "upload",
                "dispatches_per_layer": 15, "error_percent": 4.9 })
    }

    /// Moves of one name and gain have the same effect.
    fn effect(name: &str, gain: f64) -> String {
        format!("{name} {gain}")
    }

    fn answer(&mut self, call: &ToolCall) -> ToolOutcome {
        let word = |key: &str| call.args[key].as_str().unwrap_or_default().to_owned();
        let stage = word("stage");
        let value = match call.tool.as_str() {
            "open_model" => json!({ "name": "m", "family": "llama", "provenance": "checkpoint",
                                    "config": { "layers": 4 } }),
            "floor" => {
                let floor = json!({ "total_us": 500.0, "bound_by": "memory" });
                json!({ "prefill": floor, "decode": floor })
            }
            "lower" => json!({ "prefill": self.cost("prefill"), "decode": self.cost("decode") }),
            "kernels" => json!({ "rows": 9 }),
            "profile" => self.cost(&stage),
            "suggest" => {
                let moves = call.args["moves"].as_array().unwrap();
                let made = self.made.get(&stage).cloned().unwrap_or_default();
                let is_open = |name: &str, site: &str, gain: f64| {
                    moves.iter().any(|word| word == name)
                        && !made.iter().any(|one| one.0 == name && (one.1 == site || one.2 == gain))
                };
                let open = MOVES.iter().filter(|row| is_open(row.0, row.1, row.2));
                let back = json!({ "does": ["place of hidden: array"], "move": "move-to-npu", "stage": stage,
                                   "site": "hidden", "gain_us": 900.0, "effect": "", "words": "back" });
                let back =
                    (self.sink && moves.iter().any(|word| word == "move-to-npu")).then_some(back);
                let told = open.map(|(name, site, gain, _)| {
                    let does: Vec<_> = does(site).iter().map(|part| format!("{name} {part}")).collect();
                    json!({ "does": does, "move": name, "site": site, "stage": stage, "gain_us": gain,
                            "effect": Self::effect(name, *gain), "words": format!("{name} {site}") })
                });
                let limit = call.args["limit"].as_u64().unwrap() as usize;
                json!({ "suggestions": back.into_iter().chain(told).take(limit).collect::<Vec<_>>() })
            }
            "apply_move" => {
                let site = call.args["site"]["dispatch"].as_str();
                let (name, site) = (word("move"), site.map_or_else(|| word("site"), str::to_owned));
                if let Some((_, words)) = self.refused.filter(|(refused, _)| *refused == name) {
                    return ToolOutcome::failed(words);
                }
                let row = MOVES.iter().find(|row| row.0 == name && row.1 == site).unwrap();
                self.made.entry(stage.clone()).or_default().push((name, site, row.2));
                self.cost(&stage)
            }
            "undo_move" => {
                self.made.get_mut(&stage).and_then(Vec::pop).unwrap();
                self.cost(&stage)
            }
            "gate" => return self.judge(&word("id")).outcome(),
            "write_document" => {
                let rows = self.documents.entry(word("path")).or_default();
                let (section, text) = (word("section"), word("text"));
                match rows.iter_mut().find(|row| row.0 == section) {
                    Some(row) if word("mode") == "append" => row.1 = format!("{}\n{text}", row.1),
                    Some(row) => row.1 = text,
                    None => rows.push((section, text)),
                }
                Value::Null
            }
            "check" => json!({ "findings": [] }),
            "simulate" => json!({ "text": "once upon a time" }),
            "note" | "remember" | "enter_phase" => Value::Null,
            other => panic!("nobody knows the tool `{other}`"),
        };
        ToolOutcome::done("done", value)
    }

    fn judge(&self, id: &str) -> Judged {
        let spoilt = self.spoils.filter(|(gate, name, _)| {
            let mut made = self.made.values().flatten();
            *gate == id && made.any(|one| one.0 == *name)
        });
        let on_host = self.made.values().flatten().filter(|one| one.0 == "move-to-host").count();
        let is_worn = self.sink && id == "logits" && on_host < 4;
        let spoilt = spoilt.or(is_worn.then_some(("logits", "", "cosine.least")));
        let name = spoilt.map_or("cosine", |spoilt| spoilt.2);
        let margin = if spoilt.is_some() { -1.0 } else { 1.0 };
        let verdict = if spoilt.is_some() { Verdict::Fail } else { Verdict::Pass };
        let first = if self.sink && id == "layers" { "sink_error" } else { name };
        let metric = |name: &str, margin: f64| Metric {
            name: name.to_owned(),
            measured: 1.0,
            threshold: ">= 0".to_owned(),
            margin,
            hard: true,
        };
        Judged {
            gate: id.into(),
            phase: Phase::Reference,
            verdict,
            snapshot: Hash::of(b"s"),
            inputs: Hash::default(),
            claim: String::new(),
            headline: "as measured".to_owned(),
            margin: 0.0,
            metrics: vec![metric(first, 0.0), metric(name, margin)],
            mutants: Vec::new(),
            receipt: Hash::of(id.as_bytes()),
            evidence: Vec::new(),
        }
    }
}

/// A session from its brief to where the mind ends, or blocks.
pub(crate) struct Session {
    entries: Vec<Entry>,
    world: World,
    pub(crate) blocked: Option<String>,
}

impl Session {
    pub(crate) fn run(library: Library, world: World) -> Self {
        let mind = Playbook::new(Arc::new(library));
        let mut session = Self { entries: Vec::new(), world, blocked: None };
        session.push(
            Author::System,
            Event::Opened {
                model: "m".into(),
                target: "sim".into(),
                agent: "playbook".into(),
                seq: 512,
                tokens: 64,
                seed: 7,
                version: "0".into(),
            },
        );
        session.push(Author::User, Event::UserSaid { text: "Deploy it.".into() });
        for _ in 0..2000 {
            let replies = mind.replies(&session.state());
            let mut called = false;
            for reply in replies {
                match reply {
                    Reply::Text(text) => session.push(Author::Agent, Event::AgentSaid { text }),
                    Reply::Blocked(why) => session.blocked = Some(why),
                    Reply::Call(call) => {
                        called = true;
                        session.call(&call);
                    }
                    _ => (),
                }
            }
            if !called {
                return session;
            }
        }
        panic!("the mind goes round in circles");
    }

    fn call(&mut self, call: &ToolCall) {
        let id = call.id.clone();
        self.push(Author::Agent, Event::Called(call.clone()));
        if call.tool == "apply_move" {
            self.world.proposed += 1;
            if self.world.reject == Some(self.world.proposed) {
                self.world.rejected = Some(call.args.clone());
                let why = "not on my watch".to_owned();
                let ruling = Ruling::Ask { why: "writes".into() };
                self.push(Author::System, Event::Ruled { call: id.clone(), ruling });
                let answer = Answer::Reject { why: why.clone() };
                self.push(Author::User, Event::Answered { call: id.clone(), answer });
                let outcome = ToolOutcome::Denied { why };
                return self.push(Author::System, Event::Returned { call: id, outcome });
            }
        }
        let ruling = Ruling::Allow { why: "within `auto`".into() };
        self.push(Author::System, Event::Ruled { call: id.clone(), ruling });
        let outcome = self.world.answer(call);
        if call.tool == "enter_phase" {
            let phase = Phase::parse(call.args["phase"].as_str().unwrap()).unwrap();
            self.push(Author::System, Event::PhaseEntered { phase });
        }
        self.push(Author::System, Event::Returned { call: id, outcome });
    }

    fn push(&mut self, by: Author, event: Event) {
        let seq = self.entries.len() as u64;
        let at = Time::from_millis(1000 * seq);
        self.entries.push(Entry { seq, at, by, prev: Hash::default(), event });
    }

    fn state(&self) -> State {
        State::replay(&self.entries)
    }

    pub(crate) fn calls(&self, tool: &str) -> Vec<Value> {
        let calls = self.entries.iter().filter_map(|entry| match &entry.event {
            Event::Called(call) if call.tool == tool => Some(call.args.clone()),
            _ => None,
        });
        calls.collect()
    }

    pub(crate) fn said(&self) -> String {
        let texts = self.entries.iter().filter_map(|entry| match &entry.event {
            Event::AgentSaid { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn document(&self, path: &str, section: &str) -> &str {
        let rows = &self.world.documents[path];
        let row = rows.iter().find(|row| row.0.starts_with(section));
        row.map_or("", |row| row.1.as_str())
    }

    /// The rows of the trajectory as the document has them: stage, change, kept.
    fn trajectory(&self) -> Vec<[String; 3]> {
        let text = self.document("perf_opt_traj.md", "## Steps");
        let rows = text.lines().filter(|line| line.starts_with("| ") && !line.contains("| step |"));
        rows.map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            [cells[2].to_owned(), cells[3].to_owned(), cells[7].to_owned()]
        })
        .collect()
    }
}

pub(crate) fn shipped() -> Library {
    let (library, findings) = Library::shipped();
    assert!(findings.is_empty(), "{findings:?}");
    library
}

#[test]
fn shipped_skills_speak_of_things_that_exist() {
    let library = shipped();
    let specs = pilotfish::tools::toolbox().specs();
    let known = Known {
        tools: specs.iter().map(|spec| spec.name.to_owned()).collect(),
        moves: pilotfish::npu::moves::all().iter().map(|made| made.name().to_owned()).collect(),
        gates: pilotfish::pipeline::gates().iter().map(|gate| gate.id.to_owned()).collect(),
        skills: library.skills().iter().map(|skill| skill.name.clone()).collect(),
    };
    assert_eq!(library.skills().len(), 16);
    for skill in library.skills() {
        assert_eq!(check(skill, &known), [], "{}", skill.name);
        assert!(skill.description.len() > 80 && skill.body.len() > 400, "{}", skill.name);
        assert!(skill.recipe.as_ref().is_some_and(|recipe| !recipe.steps.is_empty()));
    }
    for phase in Phase::ALL {
        assert!(library.of_phase(phase).count() > 0, "{phase}");
    }
}

#[test]
fn the_road_leads_through_eight_phases_to_a_verdict() {
    let session = Session::run(shipped(), World::default());
    assert_eq!(session.blocked, None);
    let state = session.state();
    let entered: Vec<Phase> = state.phases.iter().map(|(phase, _)| *phase).collect();
    assert_eq!(entered, Phase::ALL);
    let last = session.calls("gate").pop().unwrap();
    assert_eq!(last["id"], "evaluator");
    // Every gate that a phase needs was asked for.
    let judged = session.calls("gate");
    for phase in Phase::ALL {
        for gate in pilotfish::pipeline::needs(phase) {
            assert!(judged.iter().any(|args| args["id"] == **gate), "{phase}: {gate}");
        }
    }
    // Each phase left a section, each step a row, and the parts of the gain add up.
    for phase in Phase::ALL {
        let heading = format!("## Phase {} · {}", phase.number(), phase.title());
        assert!(!session.document("plan.md", &heading).is_empty(), "{heading}");
    }
    assert_eq!(session.document("phase_timing.md", "## Phases").lines().count(), 2 + 7);
    for stage in ["Prefill", "Decode"] {
        let text = session.document("perf_opt_traj.md", &format!("## {stage}"));
        let gains: Vec<f64> = text
            .lines()
            .filter(|line| line.contains("s |"))
            .map(|line| figure(line.split('|').nth(4).unwrap()))
            .collect();
        let (total, parts) = gains.split_last().unwrap();
        assert_eq!(parts.len(), 4, "{text}");
        let sum: f64 = parts.iter().sum();
        assert!((sum - total).abs() <= 0.01 * total, "{sum} of {total}\n{text}");
    }
    let kept = session.trajectory().iter().filter(|row| row[2] == "kept").count();
    assert!(kept >= 8, "{:?}", session.trajectory());
    assert!(!session.document("lessons.md", "## What paid").is_empty());
    // Nothing undefined shows: every number has its receipt, or says that it has none.
    for (path, sections) in &session.world.documents {
        for (section, text) in sections {
            for line in text.lines().filter(|line| line.contains(" ms ") && path != "lessons.md") {
                assert!(line.contains('`'), "{path} {section}: {line}");
            }
        }
    }
}

/// `4.00 ms`, `90.0 µs` in microseconds.
fn figure(cell: &str) -> f64 {
    let (number, unit) = cell.trim().split_once(' ').unwrap();
    number.parse::<f64>().unwrap() * if unit == "ms" { 1000.0 } else { 1.0 }
}

#[test]
fn a_step_less_is_another_trajectory() {
    let whole = Session::run(shipped(), World::default()).trajectory();
    let mut tried = 0;
    for name in ["opt-buffer-residency", "opt-merge-dispatches", "opt-layout-and-tiles"] {
        let library = shipped();
        let skill = library.find(name).unwrap().clone();
        let steps = skill.recipe.as_ref().unwrap().steps.len();
        for at in 0..steps {
            let mut less = skill.clone();
            let recipe = less.recipe.as_mut().unwrap();
            let gone = recipe.steps.remove(at);
            let Task::Improve(improve) = &gone.task else { continue };
            let mut library = shipped();
            library.insert(less);
            let shorter = Session::run(library, World::default()).trajectory();
            let has = |rows: &[[String; 3]]| {
                rows.iter().filter(|row| row[1].starts_with(&improve.change)).count()
            };
            if has(&whole) > 0 {
                tried += 1;
                assert_ne!(whole, shorter, "{name}: {}", improve.change);
                assert_eq!(has(&shorter), 0, "{name}: {}", improve.change);
            }
        }
    }
    assert!(tried >= 4, "{tried} steps made a difference");
}

#[test]
fn a_failed_gate_brings_its_debug_skill_and_the_log_says_why() {
    let spoils = Some(("tokens", "mark-intermediate", "non_finite"));
    let session = Session::run(shipped(), World { spoils, ..World::default() });
    let said = session.said();
    let why = "gate `tokens` failed: metric `non_finite` missed its threshold";
    assert!(said.contains(&format!("{why} → skill `debug-bo-corruption`")), "{said}");
    let noted = session.document("issues.md", "## Debugged with `debug-bo-corruption`");
    assert!(noted.contains(why), "{noted}");
    assert_eq!(session.blocked, None);
    assert!(!session.calls("undo_move").is_empty());
    let made = session.world.made.values().flatten();
    assert!(made.clone().count() > 0);
    assert!(made.clone().all(|one| one.0 != "mark-intermediate"), "what spoils is taken back");
    // The same reason puts the skill before any mind.
    let failed = session.entries.iter().position(|entry| match &entry.event {
        Event::Returned { outcome: ToolOutcome::Done { value, .. }, .. } => {
            value["verdict"] == "fail"
        }
        _ => false,
    });
    let state = State::replay(&session.entries[..=failed.unwrap()]);
    let applied = shipped().applies(&state);
    assert!(applied.iter().any(|one| one.skill == "debug-bo-corruption" && one.why == why));
}

#[test]
fn a_finding_of_the_compiler_brings_its_debug_skill() {
    for (words, skill) in [
        ("error: allocator exhausted available buffer descriptor IDs", "debug-multi-launch-merge"),
        (
            "compile > 10 min: 9 launches in one dispatch\n rule: merge-size",
            "debug-multi-launch-merge",
        ),
        ("rule: fa-heads: 9 heads", "debug-fa-runtime-failure"),
    ] {
        let refused = Some(("merge-dispatches", words));
        let session = Session::run(shipped(), World { refused, ..World::default() });
        assert!(session.said().contains(&format!("→ skill `{skill}`")), "{words}");
        let section = format!("## Debugged with `{skill}`");
        assert!(!session.document("issues.md", &section).is_empty(), "{words}");
        assert_eq!(session.blocked, None, "a refused move is left out, and the road goes on");
        assert!(session.world.made.values().flatten().all(|one| one.0 != "merge-dispatches"));
    }
}

#[test]
fn what_cannot_be_helped_calls_a_person() {
    let spoils = Some(("kernel", "", "error"));
    let world = World {
        spoils,
        made: BTreeMap::from([("none".into(), vec![(String::new(), String::new(), 0.0)])]),
        ..World::default()
    };
    let session = Session::run(shipped(), world);
    assert!(session.blocked.is_some());
    let asked = session.calls("gate").iter().filter(|args| args["id"] == "kernel").count();
    assert_eq!(asked, 2, "once, and once more after systematic debugging");
    let noted = session.calls("note");
    assert_eq!(noted.len(), 1);
    assert_eq!(noted[0]["kind"], "blocker");
}

#[test]
fn a_rejected_move_never_comes_back() {
    let all = Session::run(shipped(), World::default()).world.proposed;
    let seed = std::env::var("PILOTFISH_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut draw: u64 = seed.unwrap_or(20_261_201);
    for _ in 0..6 {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let reject = 1 + (draw >> 33) as usize % all;
        let session = Session::run(shipped(), World { reject: Some(reject), ..World::default() });
        let rejected = session.world.rejected.clone().unwrap();
        let stage = rejected["stage"].as_str().unwrap();
        let word = |args: &Value, key: &str| args[key].as_str().unwrap_or_default().to_owned();
        let gain_of = |args: &Value| {
            let row =
                MOVES.iter().find(|row| row.0 == word(args, "move") && row.1 == word(args, "site"));
            row.unwrap().2
        };
        let all_of = does(&word(&rejected, "site"));
        let same = session.calls("apply_move").into_iter().filter(|args| {
            let parts = does(&word(args, "site"));
            args["stage"] == *stage
                && args["move"] == rejected["move"]
                && (gain_of(args) == gain_of(&rejected)
                    || all_of.iter().all(|part| parts.contains(part)))
        });
        assert_eq!(same.count(), 1, "move {reject}: {rejected}");
        let noted = session.calls("note");
        assert_eq!(noted.len(), 1, "{noted:?}");
        assert!(noted[0]["text"].as_str().unwrap().contains("not on my watch"));
        assert!(noted[0]["title"].as_str().unwrap().contains(&word(&rejected, "move")));
        assert!(session.document("lessons.md", "## What did not").contains("not on my watch"));
        assert_eq!(session.blocked, None);
    }
}
