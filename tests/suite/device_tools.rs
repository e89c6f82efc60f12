//! The device tools on a real workspace: what they write, what they refuse, what they take back.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pilotfish::base::Stop;
use pilotfish::session::{Answer, Artifacts, Event, ToolCall, ToolOutcome};
use pilotfish::skills::Library;
use pilotfish::tools::{Kit, Ran, toolbox};
use pilotfish::workspace::{Settings, Workspace};
use serde_json::{Value, json};

struct Bench {
    kit: Kit,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        let artifacts = Artifacts::of(&folder.path().join(".pilotfish/sessions/s"));
        let (library, _) = Library::shipped();
        let settings = Settings::of("tiny-llama");
        Self { kit: Kit::open(&settings, workspace, artifacts, Arc::new(library)), folder }
    }

    fn run(&self, tool: &str, args: Value) -> Ran {
        self.answered(tool, args, Answer::Once)
    }

    fn answered(&self, tool: &str, args: Value, answer: Answer) -> Ran {
        let call = ToolCall { id: "c".into(), tool: tool.into(), args };
        let tools = toolbox();
        tools.footprint(&call).unwrap();
        let tool = Arc::clone(tools.find(tool).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(tool.run(call, answer, self.kit.clone(), Stop::never()))
    }

    /// The value of a call that must succeed.
    fn value(&self, tool: &str, args: Value) -> Value {
        match self.run(tool, args).outcome {
            ToolOutcome::Done { value, .. } => value,
            other => panic!("{tool}: {other:?}"),
        }
    }

    fn text(&self, place: &str) -> String {
        fs::read_to_string(self.place(place)).unwrap()
    }

    fn place(&self, place: &str) -> std::path::PathBuf {
        Path::new(self.folder.path()).join(place)
    }

    fn best(&self, stage: &str, moves: &[&str]) -> Value {
        let args = json!({ "stage": stage, "moves": moves, "limit": 4 });
        let best = self.value("suggest", args)["suggestions"][0].clone();
        json!({ "stage": stage, "move": best["move"], "site": best["site"] })
    }
}

const PREFILL: &str = "program/prefill.toml";

#[test]
fn lowering_writes_both_programs_and_their_baseline() {
    let bench = Bench::new();
    let naive = bench.value("lower", json!({}));
    assert_eq!(naive["prefill"]["dispatches_per_layer"], 15);
    for stage in ["prefill", "decode"] {
        let baseline = bench.text(&format!(".pilotfish/baseline/{stage}.toml"));
        assert_eq!(bench.text(&format!("program/{stage}.toml")), baseline);
        let cost = naive[stage]["cost"].as_object().unwrap();
        let sum: f64 = cost.values().filter_map(Value::as_f64).sum();
        assert!((sum / naive[stage]["total_us"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    }
    assert_eq!(bench.value("check", json!({}))["errors"], 0);
    let floors = bench.value("floor", json!({}));
    assert!(floors["decode"]["total_us"].as_f64() < naive["decode"]["total_us"].as_f64());
    // Nothing is proven yet, so nothing is written down as proven.
    assert!(matches!(bench.run("kernels", json!({})).outcome, ToolOutcome::Failed { .. }));
    assert!(!bench.place("kernels.toml").exists());
}

#[test]
fn moves_are_taken_back_to_the_byte() {
    let bench = Bench::new();
    bench.value("lower", json!({}));
    // A person's comment is part of every byte.
    let mut before = format!("# mind the gap\n{}", bench.text(PREFILL));
    fs::write(bench.place(PREFILL), &before).unwrap();
    let mut texts = Vec::new();
    for moves in [&["make-static"][..], &["merge-dispatches"], &["merge-dispatches"]] {
        let call = bench.best("prefill", moves);
        let ran = bench.run("apply_move", call.clone());
        assert!(matches!(&ran.outcome, ToolOutcome::Done { .. }), "{call}: {:?}", ran.outcome);
        assert!(matches!(ran.facts[0], Event::Snapshotted { .. }));
        let after = bench.text(PREFILL);
        assert!(after != before && after.contains("# mind the gap"));
        texts.push(std::mem::replace(&mut before, after));
    }
    for text in texts.into_iter().rev() {
        bench.value("undo_move", json!({ "stage": "prefill" }));
        assert_eq!(bench.text(PREFILL), text);
    }
    let more = bench.run("undo_move", json!({ "stage": "prefill" })).outcome;
    assert!(
        matches!(&more, ToolOutcome::Failed { text, .. } if text.contains("no move")),
        "{more:?}"
    );
}

#[test]
fn an_edit_made_since_stays_when_a_move_is_taken_back() {
    let bench = Bench::new();
    bench.value("lower", json!({}));
    let before = bench.text(PREFILL);
    bench.value("apply_move", bench.best("prefill", &["merge-dispatches"]));
    fs::write(bench.place(PREFILL), format!("# since\n{}", bench.text(PREFILL))).unwrap();
    bench.value("undo_move", json!({ "stage": "prefill" }));
    assert_eq!(bench.text(PREFILL), format!("# since\n{before}"));
}

#[test]
fn what_the_array_refuses_is_not_written() {
    let bench = Bench::new();
    bench.value("lower", json!({}));
    let before = bench.text(PREFILL);
    for (args, told) in [
        (json!({ "stage": "prefill", "move": "make-statik", "site": {} }), "make-static"),
        (json!({ "stage": "prefill", "move": "make-static", "site": { "x": 1 } }), "no site"),
        (
            json!({ "stage": "prefill", "move": "make-static",
                    "site": { "buffers": ["hidden"], "residency": "static" } }),
            "hidden",
        ),
    ] {
        let outcome = bench.run("apply_move", args).outcome;
        assert!(
            matches!(&outcome, ToolOutcome::Failed { text, .. } if text.contains(told)),
            "{outcome:?}"
        );
        assert_eq!(bench.text(PREFILL), before);
    }
}

#[test]
fn a_kept_step_carries_the_change_since_the_last_one() {
    let bench = Bench::new();
    bench.value("lower", json!({}));
    let profiled = |kind: &str| {
        let args = json!({ "stage": "decode", "kind": kind, "change": "c", "receipt": null });
        let ran = bench.run("profile", args);
        match ran.facts.into_iter().next() {
            Some(Event::Profiled(profiled)) => *profiled,
            other => panic!("{other:?}"),
        }
    };
    let start = profiled("baseline");
    assert!(start.diff.is_none());
    bench.value("apply_move", bench.best("decode", &["make-static"]));
    let tried = profiled("tried");
    assert!(tried.cost.total_us() < start.cost.total_us());
    let kept = profiled("kept");
    assert_eq!(kept.diff, tried.diff);
    assert_eq!(profiled("kept").diff, kept.diff, "a call made again tells the same");
    bench.value("apply_move", bench.best("decode", &["merge-dispatches"]));
    let next = profiled("tried");
    assert_ne!(next.diff, kept.diff);
    let text = bench.kit.artifacts.text(&next.diff.unwrap()).unwrap();
    assert!(text.starts_with("--- a/program/decode.toml"), "{text}");
}

#[test]
fn a_phase_is_not_entered_before_the_one_before_it_has_closed() {
    let bench = Bench::new();
    assert!(matches!(
        bench.run("enter_phase", json!({ "phase": "reference" })).outcome,
        ToolOutcome::Done { .. }
    ));
    fs::write(bench.place("pilotfish.toml"), "model = \"tiny-llama\"\n").unwrap();
    let ran = bench.run("enter_phase", json!({ "phase": "kernels" }));
    let ToolOutcome::Failed { value, .. } = ran.outcome else { panic!() };
    assert_eq!(value["gates"], json!(["scope", "weights", "oracle", "floor", "documents"]));
    assert!(ran.facts.is_empty());
}
