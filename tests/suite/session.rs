//! Sessions on the disk: recorded ones replay, killed ones go on, full disks lose nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pilotfish::base::{Time, crash};
use pilotfish::session::{
    Artifact, Artifacts, Author, Event, Header, Log, Replay, State, Store, fork,
};
use pilotfish::workspace::{Edit, Limits, Path as Place, Snapshot, Workspace};
use serde_json::Value;

use crate::{child, need};

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions");
    Store::of(folder).folders().unwrap()
}

#[test]
fn every_recorded_session_replays() {
    for folder in recordings() {
        let (replay, findings) = Replay::open(&folder).unwrap();
        assert_eq!(findings, [], "{}", folder.display());
        // 1. The fold takes every prefix, one fact at a time.
        let mut state = State::default();
        for (seq, entry) in replay.entries().iter().enumerate() {
            assert_eq!(entry.seq, seq as u64);
            assert!(!matches!(entry.event, Event::Unknown { .. }), "{seq} {}", folder.display());
            state.apply(entry);
        }
        // By what they print: a margin that is no number is equal to none, itself included.
        assert!(format!("{state:?}") == format!("{:?}", replay.state()), "{}", folder.display());
        let header = Header::read(&folder).unwrap();
        let told = (header.facts, header.model, header.phase);
        assert_eq!(told, (replay.facts(), state.model.clone(), state.phase));
        // 2. Every artifact that a fact names is there, with the bytes of its name.
        let artifacts = Artifacts::of(&folder);
        for artifact in replay.entries().iter().flat_map(|entry| named(&entry.to_line())) {
            artifacts.read(&artifact.hash).unwrap();
        }
        // 3. It forks at its first, a middle and its last fact.
        let to = tempfile::tempdir().unwrap();
        for seq in [0, replay.facts() / 2, replay.facts() - 1] {
            let log = fork(&folder, seq, &to.path().join(seq.to_string()), state.last).unwrap();
            assert_eq!(log.next_seq(), seq + 2);
        }
    }
}

/// Everything in a fact that has the shape of an artifact.
fn named(line: &str) -> Vec<Artifact> {
    fn look(value: &Value, found: &mut Vec<Artifact>) {
        // Three words in a row would do for a struct as well.
        if value.is_object() {
            found.extend(serde_json::from_value::<Artifact>(value.clone()));
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| look(item, found)),
            Value::Object(map) => map.values().for_each(|item| look(item, found)),
            _ => (),
        }
    }
    let mut found = Vec::new();
    look(&serde_json::from_str(line).unwrap(), &mut found);
    found
}

fn said(text: &str) -> Event {
    Event::UserSaid { text: text.into() }
}

/// In a child: logs until the disk is full, and tells what happened then.
pub fn fill(folder: &Path) {
    let ballast = folder.join("ballast");
    fs::write(&ballast, vec![1; 24 << 10]).unwrap();
    let session = folder.join("session");
    let mut log = Log::create(&session).unwrap();
    let error = loop {
        let event = said(&"words ".repeat(200));
        let appended = log.append(Time::from_millis(log.next_seq()), Author::User, event);
        if let Err(error) = appended {
            break error;
        }
        assert!(log.next_seq() < 1000, "the disk was never full");
    };
    println!("told: {}", error.to_string().replace('\n', " "));
    let facts = log.next_seq();
    // 1. What had happened before is whole, and nothing of the last fact is there.
    let (replay, findings) = Replay::open(&session).unwrap();
    assert_eq!((replay.facts(), findings.len()), (facts, 0));
    // 2. With room again the same log goes on, and a new one opens it.
    fs::remove_file(ballast).unwrap();
    if let Err(error) = log.append(Time::default(), Author::User, said("on")) {
        println!("told: then {}", error.to_string().replace('\n', " "));
        return;
    }
    drop(log);
    let (log, findings) = Log::open(&session).unwrap();
    assert_eq!((log.next_seq(), findings.len()), (facts + 1, 0));
    println!("told: went on");
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let Some(mount) = need::tmpfs("size=64k") else { return };
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<&str> = mount.iter().map(String::as_str).collect();
    let output = child::wrapped(&words, "fill", folder.path()).output().unwrap();
    let told = child::told(&output);
    assert!(output.status.success(), "{told:?} {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("cannot append to") && told[0].contains("log.jsonl"), "{told:?}");
    assert!(told[0].contains("No space left") && told[0].contains("free some space"), "{told:?}");
    assert_eq!(told[1], "went on");
}

#[test]
fn a_limit_of_file_size_is_told_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let limit = ["sh", "-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""];
    let output = child::wrapped(&limit, "fill", folder.path()).output().unwrap();
    let told = child::told(&output);
    assert!(output.status.success(), "{told:?} {}", String::from_utf8_lossy(&output.stderr));
    assert!(told[0].contains("cannot append to") && told[0].contains("too large"), "{told:?}");
    let (replay, findings) = Replay::open(&folder.path().join("session")).unwrap();
    assert!(replay.facts() > 5 && findings.is_empty());
}

/// How many steps a run has: of four kinds, each in turn.
const STEPS: u64 = 12;

/// In a child: goes on from the last fact, one step a fact, and may be killed at a point.
pub fn steps(root: &Path, armed: &str) {
    if !armed.is_empty() {
        crash::arm(armed).unwrap();
    }
    let workspace = Workspace::create(root).unwrap();
    workspace.sweep();
    let session = workspace.sessions().join("one");
    let artifacts = Artifacts::of(&session);
    let mut log = match Log::open(&session) {
        Ok((log, _)) => log,
        Err(_) => Log::create(&session).unwrap(),
    };
    while log.next_seq() < STEPS {
        let step = log.next_seq();
        let event = match step % 4 {
            0 => {
                let artifact = artifacts.put("text", "a step", format!("step {step}").as_bytes());
                let artifacts = vec![artifact.unwrap()];
                Event::Noted { kind: "step".into(), text: String::new(), artifacts }
            }
            1 => {
                let path = Place::new(&format!("program/{step}.toml")).unwrap();
                let hash = workspace.write(&path, format!("{step}").as_bytes(), None).unwrap().hash;
                Event::DocumentSaved { path: path.to_string(), hash }
            }
            2 => {
                let path = Place::new("lessons.md").unwrap();
                let saved = workspace.save(&path, &Edit::Append(format!("- step {step}"))).unwrap();
                Event::DocumentSaved { path: path.to_string(), hash: saved.hash }
            }
            _ => {
                let frozen = Snapshot::freeze(&workspace, &Limits::default()).unwrap();
                Event::Snapshotted { snapshot: frozen.hash().clone(), why: String::new() }
            }
        };
        log.append(Time::from_millis(step), Author::System, event).unwrap();
    }
}

/// A torn tail that was set aside, and the number of the process that holds a log.
const PASSING: [&str; 2] = ["log.torn", "log.lock"];

/// Every file below, but for what a killed process may leave and the next one removes.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = item.path().strip_prefix(root).unwrap().display().to_string();
            if item.file_type().unwrap().is_dir() {
                folders.push(item.path());
            } else if !name.contains("staging/") && !PASSING.iter().any(|end| name.ends_with(end)) {
                files.insert(name, fs::read(item.path()).unwrap());
            }
        }
    }
    files
}

#[test]
fn killed_anywhere_it_goes_on_to_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let run = |root: &Path, what: &str| child::command(what, root).output().unwrap();
    let whole = folder.path().join("whole");
    assert!(run(&whole, "steps").status.success());
    let expected = tree(&whole);
    assert!(expected.len() > 12, "{:?}", expected.keys());
    let points = crash::POINTS.iter().filter(|point| !["sync-effect", "judge"].contains(point));
    for point in points {
        for count in [1, 2, 4] {
            let root = folder.path().join(format!("{point}-{count}"));
            let died = run(&root, &format!("steps {point}:{count}"));
            let reached = !died.status.success();
            // Some points are passed only a few times.
            assert!(reached || count > 2, "{point} was not reached {count} times");
            let went_on = run(&root, "steps");
            let why = String::from_utf8_lossy(&went_on.stderr);
            assert!(went_on.status.success(), "{point}:{count} {why}");
            let files = tree(&root);
            for (name, bytes) in &expected {
                assert!(files.get(name) == Some(bytes), "{point}:{count} `{name}` differs");
            }
            assert_eq!(files.len(), expected.len(), "{point}:{count} {:?}", files.keys());
        }
    }
}
