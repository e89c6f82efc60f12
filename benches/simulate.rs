//! Time of simulated prefill and decode beside the oracle's, for the same tokens.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench reports on stdout")]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pilotfish::model::{Cache, Config, Logits, Model, Oracle, Stage, published};
use pilotfish::npu::{Array, Machine, Outline, Program, cost, lower, moves, structured, suggest};
use pilotfish::tensor::NoTap;

const SHAPE: &str = r#"{"model_type":"llama","hidden_size":576,"intermediate_size":1536,
    "num_hidden_layers":30,"num_attention_heads":9,"num_key_value_heads":3,"vocab_size":49152,
    "rms_norm_eps":1e-5,"rope_theta":100000.0,"max_position_embeddings":8192,
    "tie_word_embeddings":true}"#;
const SEQ: usize = 512;
const ROUNDS: usize = 5;
const STEPS: u32 = 16;

fn main() {
    // `cargo test --benches` only wants to know that it starts.
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    let model = Arc::new(model());
    println!("{} ({:?})", model.name, model.provenance);
    let tokens: Vec<u32> =
        (0..SEQ as u32).map(|i| (i * 37 + 11) % model.config.vocab as u32).collect();
    let naive = programs(&model);
    let best = naive.clone().map(|program| improved(&program));
    let oracle = Oracle::new(Arc::clone(&model)).unwrap();
    let array = Array::xdna2();
    for (name, programs) in [("naive", &naive), ("best", &best)] {
        let start = Instant::now();
        let rounds = 100;
        for _ in 0..rounds {
            for program in programs {
                black_box(cost(program, &array, SEQ));
            }
        }
        let ms = start.elapsed().as_secs_f64() * 1e3 / f64::from(rounds);
        println!("cost of both stages of the {name} program: {ms:.3} ms");
    }
    search(&array);
    let mut open = [&naive, &best].map(|[prefill, decode]| {
        Machine::new(prefill, Some(decode), Arc::clone(&model), &Array::xdna2()).unwrap()
    });
    // Rounds take turns, so that other work on the machine meets all alike.
    let mut times = [(); 3].map(|()| Vec::new());
    let mut steps = [Duration::ZERO; 3];
    for _ in 0..=ROUNDS {
        let mut cache = Cache::new(&model.config, SEQ + 128);
        let start = Instant::now();
        oracle.prefill(&tokens, Logits::Last, &mut cache, &mut NoTap).unwrap();
        times[0].push(start.elapsed());
        let start = Instant::now();
        (0..STEPS).for_each(|token| drop(oracle.step(token, &mut cache, &mut NoTap).unwrap()));
        steps[0] = start.elapsed() / STEPS;
        for (at, machine) in open.iter_mut().enumerate() {
            let start = Instant::now();
            machine.prefill(&tokens, Logits::Last, &mut NoTap).unwrap();
            times[at + 1].push(start.elapsed());
            let start = Instant::now();
            (0..STEPS).for_each(|token| drop(machine.step(token, &mut NoTap).unwrap()));
            steps[at + 1] = start.elapsed() / STEPS;
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.remove(0);
        times.sort();
        times[times.len() / 2]
    };
    let of = times.each_mut().map(median);
    for (at, name) in ["oracle", "naive program", "best program"].into_iter().enumerate() {
        println!(
            "{name:14} prefill {SEQ} in {:7.1} ms ({:.2}x), a token in {:6.2} ms ({:.2}x)",
            of[at].as_secs_f64() * 1e3,
            of[at].as_secs_f64() / of[0].as_secs_f64(),
            steps[at].as_secs_f64() * 1e3,
            steps[at].as_secs_f64() / steps[0].as_secs_f64(),
        );
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
}

/// How fast programs of a 1B network are timed, and all tilings of one of its GEMMs tried.
fn search(array: &Array) {
    let config = published("llama-3.2-1b").unwrap();
    let outline = Outline { layers: 1, ..Outline::new("llama-3.2-1b", &config) };
    let layer = structured(&outline, array, Stage::Prefill, 2048, 2048).unwrap();
    let rounds = 2000;
    let start = Instant::now();
    for _ in 0..rounds {
        black_box(cost(&layer, array, SEQ));
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("programs of one layer timed: {:.0} a second", f64::from(rounds) / seconds);

    let mut alone = lower(&outline, array, Stage::Prefill, 2048, 2048).0;
    alone.dispatches.retain(|dispatch| dispatch.name == "q");
    let start = Instant::now();
    let tilings = moves::find("retile").unwrap().sites(&alone, array).len();
    let found = suggest(&alone, array, SEQ, &["retile"], 1).len();
    let ms = start.elapsed().as_secs_f64() * 1e3;
    println!("tile space of one GEMM: {tilings} sites, {found} better, in {ms:.1} ms");
}

/// The real checkpoint where it is, or the same shape with seeded weights.
fn model() -> Model {
    let home = std::env::var("HOME").unwrap_or_default();
    let file = Path::new(&home).join(".cache/pilotfish/SmolLM2-135M-Instruct.Q4_1.gguf");
    if file.exists() {
        return Model::open(&file).unwrap();
    }
    let config = Config::from_json(SHAPE, "bench").unwrap();
    Model::synthetic("smollm2-135m, seeded", config, 1).unwrap()
}

fn programs(model: &Model) -> [Program; 2] {
    let outline = Outline::new(&model.name, &model.config);
    Stage::ALL.map(|stage| lower(&outline, &Array::xdna2(), stage, SEQ, SEQ + 128).0)
}

fn improved(program: &Program) -> Program {
    let array = Array::xdna2();
    let mut program = program.clone();
    while let Some(best) = suggest(&program, &array, 64, &[], 1).first() {
        let made = moves::find(best.name).unwrap();
        program = made.apply(&program, &best.site, &array).unwrap();
    }
    program
}
