//! The README is held to what is: its two commands, and its tables from recorded deployments.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pilotfish::session::{Replay, State, Store, Verdict};

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The recordings that travel with the repository, by name.
fn recordings() -> Vec<(String, State)> {
    let folders = Store::of(root().join("sessions")).folders().unwrap();
    let read = folders.iter().map(|folder| {
        let (replay, findings) = Replay::open(folder).unwrap();
        assert_eq!(findings, [], "{}", folder.display());
        (folder.file_name().unwrap().to_string_lossy().into_owned(), replay.state())
    });
    read.collect()
}

#[test]
fn every_recording_replays_to_its_verdict() {
    let recordings = recordings();
    assert!(!recordings.is_empty(), "no recorded session is in `sessions/`");
    for (name, state) in recordings {
        assert!(!state.model.is_empty() && state.facts > 10, "{name}");
        let verdict = state.gates.get(&"evaluator".into()).map(|judged| judged.verdict);
        assert_eq!(verdict, Some(Verdict::Pass), "{name}");
        for stage in ["prefill", "decode"] {
            let (naive, last) = (state.trajectory.baseline(stage), state.trajectory.best(stage));
            let (naive, last) = (naive.unwrap().profiled.cost, last.unwrap().profiled.cost);
            assert!(naive.total_us() >= 2.0 * last.total_us(), "{name} {stage}");
        }
    }
}

#[test]
fn the_readme_gives_two_commands() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    for (kind, expected) in [
        ("main", "cargo run --release -- deploy tiny-llama --headless --autonomy auto"),
        ("tests", "cargo test"),
    ] {
        let blocks: Vec<_> = text.split(&format!("```sh {kind}\n")).skip(1).collect();
        assert_eq!(blocks.len(), 1, "blocks `sh {kind}`");
        assert_eq!(blocks[0].split("\n```").next(), Some(expected));
    }
}

#[test]
fn the_readme_names_files_that_exist() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let links = text.match_indices("](").map(|(at, _)| {
        let rest = &text[at + 2..];
        &rest[..rest.find(')').unwrap_or(0)]
    });
    for link in links.filter(|link| !link.starts_with("http") && !link.starts_with('#')) {
        assert!(root().join(link).exists(), "README.md links to `{link}`, which is not there");
    }
}

#[test]
fn the_table_of_deployments_is_what_the_recordings_say() {
    generated("README.md", "results", &results(&recordings()));
}

fn results(recordings: &[(String, State)]) -> String {
    let mut table = "| recording | stage | naive | deployed | faster | by dispatch | by upload | by tile | by host | floor | dispatches a layer | verdict |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n".to_owned();
    for (name, state) in recordings {
        for stage in ["prefill", "decode"] {
            let (Some(naive), Some(last)) =
                (state.trajectory.baseline(stage), state.trajectory.best(stage))
            else {
                continue;
            };
            let (before, after) = (naive.profiled.cost, last.profiled.cost);
            let ms = |us: f64| format!("{:.2} ms", us / 1e3);
            let verdict =
                state.gates.get(&"evaluator".into()).map(|judged| judged.verdict.to_string());
            writeln!(
                table,
                "| `{name}` | {stage} | {} | {} | {:.1}× | {} | {} | {} | {} | {} | {} → {} | {} |",
                ms(before.total_us()),
                ms(after.total_us()),
                before.total_us() / after.total_us(),
                ms(before.dispatch_us - after.dispatch_us),
                ms(before.upload_us - after.upload_us),
                ms(before.tile_us - after.tile_us),
                ms(before.host_us - after.host_us),
                ms(last.profiled.floor_us),
                naive.profiled.dispatches_per_layer,
                last.profiled.dispatches_per_layer,
                verdict.unwrap_or_default(),
            )
            .unwrap();
        }
    }
    table
}

/// The commands as the program lists them.
#[test]
fn the_table_of_commands_is_what_the_program_says() {
    let help = Command::new(env!("CARGO_BIN_EXE_pilotfish")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let mut table = String::from("| command | what it does |\n|---|---|\n");
    for line in commands.lines() {
        let (name, words) = line.trim().split_once(' ').unwrap();
        if name != "help" {
            writeln!(table, "| `{name}` | {} |", words.trim()).unwrap();
        }
    }
    assert!(table.lines().count() > 12, "{table}");
    generated("README.md", "commands", &table);
}

/// Holds what lies between `<!-- name -->` and `<!-- /name -->` to this text; `UPDATE=1` writes it.
pub fn generated(file: &str, name: &str, text: &str) {
    let path: &Path = &root().join(file);
    let old = fs::read_to_string(path).unwrap();
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (head, rest) = old.split_once(&begin).unwrap();
    let (_, tail) = rest.split_once(&end).unwrap();
    let new = format!("{head}{begin}{text}{end}{tail}");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, new).unwrap();
    } else {
        assert_eq!(old, new, "{file}: `{name}` is out of date; run the tests with UPDATE=1");
    }
}
