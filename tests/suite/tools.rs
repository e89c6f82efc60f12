//! The tools that need no device, called as a session calls them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pilotfish::base::Stop;
use pilotfish::session::{Answer, Artifacts, Event, ToolCall, ToolOutcome};
use pilotfish::skills::Library;
use pilotfish::tools::{BadCall, Kit, Ran, Toolbox, files};
use pilotfish::workspace::{Settings, Snapshot, Workspace};
use serde_json::{Value, json};

struct Bench {
    folder: tempfile::TempDir,
    kit: Kit,
    tools: Toolbox,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        let artifacts = Artifacts::of(&workspace.sessions().join("one"));
        let skills = Arc::new(Library::shipped().0);
        let kit = Kit::open(&Settings::of("tiny-llama"), workspace, artifacts, skills);
        Self { folder, kit, tools: Toolbox::new(files()) }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    fn call(&self, tool: &str, args: Value) -> Ran {
        self.answered(tool, args, Answer::Once)
    }

    fn answered(&self, tool: &str, args: Value, answer: Answer) -> Ran {
        let call = ToolCall { id: "c1".into(), tool: tool.into(), args };
        self.tools.footprint(&call).unwrap();
        let tool = Arc::clone(self.tools.find(tool).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { tool.run(call, answer, self.kit.clone(), Stop::never()).await })
    }

    fn done(&self, tool: &str, args: Value) -> Value {
        let ran = self.call(tool, args);
        match ran.outcome {
            ToolOutcome::Done { value, .. } => value,
            other => panic!("{tool}: {}", other.text()),
        }
    }

    fn failed(&self, tool: &str, args: Value) -> String {
        let outcome = self.call(tool, args).outcome;
        assert!(matches!(outcome, ToolOutcome::Failed { .. }), "{tool}: {outcome:?}");
        outcome.text().to_owned()
    }

    fn bad(&self, tool: &str, args: Value) -> String {
        let call = ToolCall { id: "c1".into(), tool: tool.into(), args };
        let BadCall(why) = self.tools.footprint(&call).unwrap_err();
        why
    }
}

#[test]
fn every_tool_says_what_it_is_and_refuses_nonsense() {
    let bench = Bench::new();
    for spec in bench.tools.specs() {
        assert!(spec.doc.ends_with('.') && spec.schema["type"] == "object", "{}", spec.name);
        let optional = spec.schema["required"] == json!([]);
        assert!(bench.bad(spec.name, json!({ "nonsense": 1 })).contains(spec.name));
        if !optional {
            assert!(bench.bad(spec.name, json!({})).contains("missing field"), "{}", spec.name);
        }
    }
    let check = |tool: &str, args: Value, words: &str| {
        let why = bench.bad(tool, args);
        assert!(why.contains(words), "{why}");
    };
    check("read", json!({ "path": "../../etc/passwd" }), "not a path inside");
    check("write", json!({ "path": "/etc/x", "text": "" }), "absolute");
    check("write_document", json!({ "path": "program/a.toml", "text": "" }), "no document");
    check("write_document", json!({ "path": "plan.md", "text": "" }), "which `section`");
    check("search", json!({ "pattern": "(" }), "`(`");
    check("note", json!({ "kind": "rant", "title": "t", "text": "" }), "unknown variant `rant`");
    check("run", json!({ "command": [] }), "no words");
}

#[test]
fn files_are_read_listed_and_searched() {
    let bench = Bench::new();
    fs::create_dir(bench.root().join("program")).unwrap();
    fs::write(bench.root().join("program/a.txt"), "one\ntwo\nthree").unwrap();
    fs::write(bench.root().join("bytes"), [0xff, 0xfe]).unwrap();
    fs::write(bench.root().join("long.txt"), "word ".repeat(10_000)).unwrap();
    let read = bench.call("read", json!({ "path": "program/a.txt", "from": 2, "lines": 1 }));
    assert_eq!(read.outcome.text(), "two\n");
    let told = bench.failed("read", json!({ "path": "program/a.txt", "from": 9 }));
    assert!(told.contains("has 3 lines"), "{told}");
    assert!(bench.failed("read", json!({ "path": "bytes" })).contains("not UTF-8"));
    assert!(bench.failed("read", json!({ "path": "none" })).contains("look whether the path"));
    let ToolOutcome::Done { text, artifacts, .. } =
        bench.call("read", json!({ "path": "long.txt" })).outcome
    else {
        panic!()
    };
    assert!(text.len() < 200 && artifacts.len() == 1);
    let listed = bench.done("list", json!({}));
    assert_eq!(listed["files"], json!(["bytes", "long.txt", "program/a.txt"]));
    assert_eq!(bench.done("list", json!({ "path": "program" }))["count"], 1);
    let found = bench.done("search", json!({ "pattern": "^t", "path": "program/" }));
    assert_eq!(found["lines"][1], json!({ "path": "program/a.txt", "line": 3, "text": "three" }));
}

#[test]
fn a_file_is_written_as_answered_and_can_come_back() {
    let bench = Bench::new();
    let old = (0..30).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat();
    bench.done("write", json!({ "path": "notes.txt", "text": old }));
    // 1. An edit, the tree frozen before it.
    let ran =
        bench.call("edit", json!({ "path": "notes.txt", "old": "line 7\n", "new": "seven\n" }));
    let [Event::Snapshotted { snapshot, .. }, Event::DocumentSaved { path, .. }] = &ran.facts[..]
    else {
        panic!("{:?}", ran.facts)
    };
    assert_eq!(path, "notes.txt");
    let ToolOutcome::Done { value, artifacts, .. } = &ran.outcome else { panic!() };
    assert_eq!((value["added"].as_u64(), value["removed"].as_u64()), (Some(1), Some(1)));
    let diff = bench.kit.artifacts.text(&artifacts[0].hash).unwrap();
    assert!(diff.contains("-line 7\n+seven\n"), "{diff}");
    let frozen = Snapshot::open(&bench.kit.workspace, snapshot).unwrap();
    assert_eq!(frozen.text(&"notes.txt".parse().unwrap()).unwrap(), old);
    // 2. Doubt about the place is told, and nothing is written.
    let told = bench.failed("edit", json!({ "path": "notes.txt", "old": "line 2", "new": "x" }));
    assert!(told.contains("11 times"), "{told}");
    // 3. Only one of two hunks; then what a person wrote instead.
    let now = bench.text("notes.txt");
    let both = now.replace("line 1\n", "one\n").replace("line 25\n", "last\n");
    let args = json!({ "path": "notes.txt", "text": both });
    bench.answered("write", args.clone(), Answer::Hunks(vec![1]));
    assert_eq!(bench.text("notes.txt"), now.replace("line 25\n", "last\n"));
    let theirs = bench.kit.artifacts.put("text", "rewritten", b"mine\n").unwrap();
    bench.answered("write", args, Answer::Edited(theirs.hash));
    assert_eq!(bench.text("notes.txt"), "mine\n");
    let same = bench.call("write", json!({ "path": "notes.txt", "text": "mine\n" }));
    assert_eq!(same.facts, []);
}

#[test]
fn a_program_with_a_slip_is_refused_with_its_place() {
    let bench = Bench::new();
    let args = json!({ "path": "program/prefill.toml", "text": "stge = \"prefill\"\n" });
    let ran = bench.call("write", args);
    let ToolOutcome::Failed { text, value } = &ran.outcome else { panic!("{:?}", ran.outcome) };
    assert!(text.contains("program/prefill.toml") && text.contains("stage"), "{text}");
    assert!(value["findings"].as_array().is_some_and(|findings| !findings.is_empty()));
    assert!(!bench.root().join("program/prefill.toml").exists());
    let args = json!({ "path": "pilotfish.toml", "text": "model = \"m\"\nautonmy = \"auto\"\n" });
    let told = bench.failed("write", args);
    assert!(told.contains("pilotfish.toml:2:1") && told.contains("`autonomy`"), "{told}");
}

#[test]
fn documents_keep_what_a_person_wrote() {
    let bench = Bench::new();
    let write = |mode: &str, section: Option<&str>, text: &str| {
        let mut args = json!({ "path": "plan.md", "mode": mode, "text": text });
        if let Some(section) = section {
            args["section"] = json!(section);
        }
        bench.call("write_document", args)
    };
    write("section", Some("# Plan"), "What we do.");
    write("section", Some("## Tasks"), "- [ ] Phase 0\n- [ ] Phase 1");
    write("append", Some("## Tasks"), "- [ ] Phase 2");
    write("tick", None, "Phase 0");
    let expected =
        "# Plan\n\nWhat we do.\n\n## Tasks\n\n- [x] Phase 0\n- [ ] Phase 1\n- [ ] Phase 2\n";
    assert_eq!(bench.text("plan.md"), expected);
    // A person's line in the section that is written next, and one elsewhere.
    let by_hand = expected.replace("What we do.", "What we do, and why.");
    fs::write(bench.root().join("plan.md"), format!("{by_hand}\nMine.\n")).unwrap();
    let ran = write("section", Some("## Steps"), "none yet");
    assert!(ran.outcome.text().contains("edited by hand"), "{}", ran.outcome.text());
    assert!(
        ran.facts
            .iter()
            .any(|fact| matches!(fact, Event::Noted { kind, .. } if kind == "hand-edit"))
    );
    let ran = write("section", Some("# Plan"), "Something else.");
    assert!(ran.outcome.text().contains("Left out"), "{}", ran.outcome.text());
    let text = bench.text("plan.md");
    for words in ["What we do, and why.", "Mine.", "## Steps\n\nnone yet", "- [x] Phase 0"] {
        assert!(text.contains(words), "{words:?} is lost:\n{text}");
    }
}

#[test]
fn notes_and_memories_are_kept_once() {
    let bench = Bench::new();
    let note = json!({ "kind": "blocker", "title": "# No\nroom", "text": "L1 is full." });
    let first = bench.call("note", note.clone());
    let kinds: Vec<&str> = first
        .facts
        .iter()
        .map(|fact| match fact {
            Event::DocumentSaved { path, .. } => path.as_str(),
            Event::Noted { kind, .. } => kind.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["issues.md", "blocker"]);
    bench.call("note", note);
    assert_eq!(bench.text("issues.md"), "## No room\n\nL1 is full.\n");
    for _ in 0..2 {
        let ran = bench.call("remember", json!({ "text": "merge first" }));
        assert_eq!(ran.facts, [Event::Remembered { text: "merge first".into() }]);
    }
    assert_eq!(bench.text(".pilotfish/memory.jsonl").lines().count(), 1);
    let told = bench.failed("skill", json!({ "name": "opt-merge-dispatchs" }));
    assert!(told.contains("did you mean `opt-merge-dispatches`"), "{told}");
    assert!(!bench.call("skill", json!({ "name": "deploy-model" })).outcome.text().is_empty());
    let asked = bench.call("ask", json!({ "text": "Which array?" }));
    assert!(matches!(&asked.facts[..], [Event::Noted { kind, .. }] if kind == "question"));
}

#[test]
fn a_command_runs_in_the_sandbox() {
    let bench = Bench::new();
    bench.done("write", json!({ "path": "build/in", "text": "x" }));
    let sh = |script: &str| json!({ "command": ["sh", "-c", script] });
    let value = bench.done("run", sh("cat build/in > build/out; cat build/out"));
    assert_eq!(value["code"], 0);
    assert_eq!(bench.text("build/out"), "x");
    let told = bench.failed("run", sh("echo said; exit 4"));
    assert!(told.contains("ended with code 4") && told.contains("said"), "{told}");
    let held = value["sandbox"].as_str().unwrap_or_default();
    assert!(held.contains("sandboxed"), "{held}");
    if held.starts_with("sandboxed: files") {
        // Neither what is ours nor the documents: those go through tools that are logged.
        bench.failed("run", sh("echo forged > .pilotfish/receipt"));
        bench.failed("run", sh("echo forged > plan.md"));
    }
    assert!(
        bench.failed("run", json!({ "command": ["no-such"] })).contains("cannot run `no-such`")
    );
}
