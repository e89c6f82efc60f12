//! Killed at any moment, a session goes on as if nothing had happened.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use pilotfish::base::crash;
use pilotfish::session::Replay;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::room::{Room, said};

const DEPLOY: [&str; 7] =
    ["deploy", "tiny-llama", "--headless", "--autonomy", "auto", "--workspace", "workspace"];
const RESUME: [&str; 3] = ["resume", "workspace", "--headless"];

/// When the process dies.
#[derive(Clone, Debug)]
enum Moment {
    /// At the n-th passing of a point.
    Point(&'static str, u64),
    /// As soon as the fact of this number was told.
    Fact(u64),
}

/// What may differ: the log, which tells that it was killed, what belongs to it, and what a judge
/// that lost its session may still be writing.
fn left_out(name: &str) -> bool {
    let own = ["log.jsonl", "log.torn", "log.lock"];
    own.iter().any(|own| name.ends_with(own)) || name.starts_with(".pilotfish/cache/")
}

/// The facts that say what happened to the deployment, each once. Ids of calls are no part of them.
fn happened(room: &Room) -> Vec<String> {
    let kinds =
        ["document-saved", "judged", "phase-entered", "profiled", "remembered", "snapshotted"];
    let (replay, findings) = Replay::open(&room.session().unwrap()).unwrap();
    assert_eq!(findings, []);
    let mut seen = BTreeSet::new();
    let lines = replay.entries().iter().map(|entry| entry.to_line());
    let events = lines.map(|line| serde_json::from_str::<serde_json::Value>(&line).unwrap());
    let events = events.filter(|event| kinds.contains(&event["type"].as_str().unwrap()));
    let events =
        events.map(|event| format!("{} {} {}", event["by"], event["type"], event["event"]));
    events.filter(|event| seen.insert(event.clone())).collect()
}

struct Whole {
    code: Option<i32>,
    files: BTreeMap<String, Vec<u8>>,
    happened: Vec<String>,
    facts: u64,
    /// How often each point is passed, at least.
    passes: BTreeMap<&'static str, u64>,
}

fn undisturbed(new: fn() -> Room) -> Whole {
    let room = new();
    let output = room.run(&DEPLOY);
    let state = room.state();
    assert!(!state.busy && state.facts > 60, "{}", said(&output));
    let files = room.files(left_out);
    let count = |part: &str| files.keys().filter(|name| name.contains(part)).count() as u64;
    let saved = state.documents.len() as u64 * 2;
    let appends = state.calls.len() as u64 * 3;
    let passes = crash::POINTS.into_iter().map(|point| {
        let passes = match point {
            "tool-write" => 12,
            "artifact-write" | "artifact-fact" => count("/artifacts/"),
            "document-replace" => saved,
            "judge" => state.judgements.len() as u64,
            _ => appends,
        };
        (point, passes.max(1))
    });
    let passes = passes.collect();
    let happened = happened(&room);
    Whole { code: output.status.code(), files, happened, facts: state.facts, passes }
}

/// Runs until the moment; whether it came.
fn kill(room: &Room, moment: &Moment) -> bool {
    match moment {
        Moment::Point(point, count) => {
            let mut command = room.pilotfish(&DEPLOY);
            let output =
                command.env("PILOTFISH_CRASH", format!("{point}:{count}")).output().unwrap();
            output.status.signal().is_some()
        }
        Moment::Fact(seq) => {
            let mut words = DEPLOY.to_vec();
            words.push("--json");
            let mut child = room.pilotfish(&words).stdout(Stdio::piped()).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let came = lines.nth(*seq as usize).is_some();
            child.kill().unwrap(); // SIGKILL: nothing is flushed, nothing unwound.
            child.wait().unwrap().signal().is_some() && came
        }
    }
}

/// Dies at the moment, goes on, and must have left what an undisturbed run leaves.
fn check(new: fn() -> Room, moment: &Moment, whole: &Whole) -> Option<&'static str> {
    let room = new();
    if !kill(&room, moment) {
        return None;
    }
    let mut output = room.run(&RESUME);
    if room.session().is_none() {
        // It died before there was anything to go on with.
        assert_eq!(output.status.code(), Some(2), "{moment:?}: {}", said(&output));
        output = room.run(&DEPLOY);
    }
    let told = || format!("{moment:?} in {}: {}", room.path().display(), said(&output));
    assert_eq!(output.status.code(), whole.code, "{}", told());
    let files = room.files(left_out);
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&files), names(&whole.files), "{}", told());
    for (name, bytes) in &whole.files {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&files[name]), text(bytes), "{name}: {}", told());
    }
    assert_eq!(happened(&room), whole.happened, "{}", told());
    Some(match moment {
        Moment::Point(point, _) => point,
        Moment::Fact(_) => "fact",
    })
}

/// Moments drawn from a seed: some at every point, the others anywhere.
fn moments(seed: u64, count: usize, whole: &Whole) -> Vec<Moment> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let at_points = count * 3 / 4;
    let points = crash::POINTS.iter().cycle().take(at_points);
    let mut moments: Vec<Moment> = points
        .map(|point| Moment::Point(point, random.random_range(1..=whole.passes[point])))
        .collect();
    moments
        .extend((at_points..count).map(|_| Moment::Fact(random.random_range(0..whole.facts - 1))));
    moments
}

fn survive(new: fn() -> Room, seed: u64, count: usize) {
    let whole = undisturbed(new);
    let moments = moments(seed, count, &whole);
    let came: Vec<&str> = moments
        .par_iter()
        .map(|moment| {
            let mut moment = moment.clone();
            loop {
                if let Some(came) = check(new, &moment, &whole) {
                    return came;
                }
                // It is not passed so often: earlier.
                moment = match moment {
                    Moment::Point(point, count) if count > 1 => Moment::Point(point, count / 2),
                    other => panic!("{other:?} never came"),
                };
            }
        })
        .collect();
    let points: BTreeSet<&str> = came.iter().copied().collect();
    assert!(crash::POINTS.iter().all(|point| points.contains(point)), "{points:?}");
    println!("{} moments, {} kinds", came.len(), points.len());
}

#[test]
fn killed_at_fifty_moments_it_leaves_what_an_undisturbed_run_leaves() {
    survive(Room::with_short_road, 20260101, 50);
}

/// The whole road takes too long to be killed on in every run of the tests.
#[test]
#[ignore = "takes minutes: fifty whole deployments"]
fn killed_at_fifty_moments_of_a_whole_deployment() {
    survive(Room::new, 7, 50);
}
