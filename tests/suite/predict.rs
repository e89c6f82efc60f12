//! Predicted times of whole networks against what was published of the device.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pilotfish::model::{Stage, published, published_names};
use pilotfish::npu::{Array, Outline, Profile, ProgramText, check, cost, lower, structured};

use crate::need::shared;

const SEQ: usize = 2048;
const CAPACITY: usize = 4096;
/// Published decode times are those of short contexts: attention took 0.2 ms a layer.
const CONTEXT: usize = 64;

fn outline(name: &str) -> Outline {
    Outline::new(name, &published(name).expect("a published name"))
}

fn profile(name: &str, stage: Stage) -> Profile {
    let array = Array::xdna2();
    let program = structured(&outline(name), &array, stage, SEQ, CAPACITY).expect("it is built");
    cost(&program, &array, CONTEXT)
}

fn file(name: &str, stage: Stage) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join(format!("models/{name}/published/{stage}.toml"))
}

/// `UPDATE=1` writes the files anew.
#[test]
fn published_programs_are_what_the_rule_builds() {
    for name in published_names() {
        for stage in Stage::ALL {
            let array = Array::xdna2();
            let program = structured(&outline(name), &array, stage, SEQ, CAPACITY).unwrap();
            for finding in check(&program, &array) {
                assert!(!finding.is_error(), "{name} {stage}: {finding}");
            }
            let head = format!(
                "# {name}, {stage}: the dispatches of its published deployment, tiles of its \
                 published kernels.\n"
            );
            let text = head + ProgramText::new(program.clone()).text();
            let path = file(name, stage);
            if std::env::var_os("UPDATE").is_some() {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, &text).unwrap();
            }
            let there = fs::read_to_string(&path).expect("UPDATE=1 writes it");
            assert_eq!(there, text, "{name} {stage}: UPDATE=1 writes it anew");
            let (read, findings) = ProgramText::parse("published", &there);
            assert_eq!(read.expect("it reads").program(), &program, "{findings:?}");
        }
    }
}

/// The rows of the measurements by kernel and method.
fn rows(regime: &str) -> Option<BTreeMap<(String, String), (f64, String)>> {
    let text = fs::read_to_string(shared("npu/calibration.csv")?).unwrap();
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let (kernel, method, kind) = (at("kernel"), at("method"), at("regime"));
    let (latency, note) = (at("latency_us"), columns.iter().position(|c| *c == "note").unwrap());
    let mut found = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[kind] == regime {
            let key = (cells[kernel].to_owned(), cells[method].to_owned());
            found.insert(key, (cells[latency].parse().unwrap(), cells[note].to_owned()));
        }
    }
    Some(found)
}

/// Names of networks and of their dispatches in the measurements, and here.
const NETWORKS: [(&str, &str); 5] = [
    ("llama32_1b", "llama-3.2-1b"),
    ("llama32_3b", "llama-3.2-3b"),
    ("smollm2_1_7b", "smollm2-1.7b"),
    ("qwen25_0_5b", "qwen2.5-0.5b"),
    ("qwen25_3b", "qwen2.5-3b"),
];

fn here(measured: &str) -> Option<&'static str> {
    if measured == "qwen3_1_7b" {
        return Some("qwen3-1.7b");
    }
    NETWORKS.iter().find(|(theirs, _)| *theirs == measured).map(|(_, ours)| *ours)
}

#[test]
fn whole_dispatches_are_timed_as_published() {
    let Some(rows) = rows("elf") else { return };
    let mut errors = Vec::new();
    for ((kernel, network), (measured, note)) in &rows {
        let Some(name) = here(network) else { continue };
        let dispatch = match kernel.trim_start_matches("ELF:") {
            "lm_head_gemv" => "lm_head",
            "swiglu" => "silu_mul",
            other => other,
        };
        let profiles = Stage::ALL.map(|stage| profile(name, stage));
        let step = profiles.iter().flat_map(|profile| &profile.steps).find(|s| s.name == dispatch);
        let step = step.unwrap_or_else(|| panic!("{name} has no `{dispatch}`"));
        let mut us = step.cost.dispatch + step.cost.tile - Array::xdna2().host.call_us;
        if note.contains("incl BO write") {
            us += step.write_us;
        }
        let error = 100.0 * (us / measured - 1.0);
        eprintln!("{name} {dispatch}: {us:.0} us, published {measured:.0}, {error:+.1} %");
        errors.push(error.abs());
    }
    assert!(errors.len() >= 15, "{} dispatches", errors.len());
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    eprintln!("mean error {mean:.2} %");
    assert!(mean <= 8.0, "mean error {mean:.2} %");
}

#[test]
fn first_and_next_tokens_come_as_published() {
    let Some(rows) = rows("e2e") else { return };
    // Whole-network figures of Llama-3.2-1B are in its trajectory: 1.21 s, and 92 ms before the
    // feed-forward half of decode became a cascade, which is not modelled.
    let mut wanted = vec![
        ("llama-3.2-1b", Stage::Prefill, 1_210_000.0),
        ("llama-3.2-1b", Stage::Decode, 92_000.0),
    ];
    for ((kernel, network), (measured, _)) in &rows {
        let stage = match kernel.as_str() {
            "E2E:prefill" => Stage::Prefill,
            "E2E:decode" => Stage::Decode,
            _ => continue,
        };
        wanted.push((here(network).expect("a known network"), stage, *measured));
    }
    for (stage, mean_limit, most_limit) in
        [(Stage::Prefill, 10.0, 20.0), (Stage::Decode, 12.0, 20.0)]
    {
        let mut errors = Vec::new();
        for (name, of, measured) in wanted.iter().filter(|(_, of, _)| *of == stage) {
            let us = profile(name, *of).total_us();
            let error = 100.0 * (us / measured - 1.0);
            eprintln!(
                "{name} {of}: {:.1} ms, published {:.1}, {error:+.1} %",
                us / 1e3,
                measured / 1e3
            );
            errors.push(error.abs());
        }
        assert!(errors.len() >= 4);
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let most = errors.iter().fold(0.0_f64, |a, b| a.max(*b));
        assert!(
            mean <= mean_limit && most <= most_limit,
            "{stage}: {mean:.1} %, at most {most:.1} %"
        );
    }
}

/// The first working decode of Llama-3.2-1B took about 500 ms a token.
#[test]
fn the_naive_program_starts_where_the_published_one_did() {
    let array = Array::xdna2();
    let (program, _) = lower(&outline("llama-3.2-1b"), &array, Stage::Decode, 1, CAPACITY);
    let ms = cost(&program, &array, CONTEXT).total_us() / 1e3;
    eprintln!("naive decode {ms:.0} ms");
    assert!((375.0..=625.0).contains(&ms), "{ms:.0} ms");
}
