//! Speed of the FP32 oracle beside the machine's own GEMM at the same shapes.
//!
//! `cargo bench --bench oracle` prints tokens per second of prefill and decode, and which share of
//! the program's own f32 matrix product a prefill reaches. It takes SmolLM2-135M from the cache
//! (`scripts/fetch-smollm2.sh`) or, without it, seeded weights of the same shape.
#![expect(clippy::print_stdout, reason = "a bench reports on stdout")]

use std::env;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use pilotfish::model::{Cache, Config, Logits, Model, Oracle, Role};
use pilotfish::tensor::{NoTap, matmul};

const SHAPE: &str = r#"{"model_type":"llama","hidden_size":576,"intermediate_size":1536,
    "num_hidden_layers":30,"num_attention_heads":9,"num_key_value_heads":3,"vocab_size":49152,
    "rms_norm_eps":1e-5,"rope_theta":100000.0,"max_position_embeddings":8192,
    "tie_word_embeddings":true}"#;

/// Matrices of one layer that a prompt runs through.
const MATRICES: [Role; 7] = [Role::Q, Role::K, Role::V, Role::O, Role::Gate, Role::Up, Role::Down];

fn model() -> Model {
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cache = env::var_os("XDG_CACHE_HOME").map_or_else(|| home.join(".cache"), PathBuf::from);
    let usual = cache.join("pilotfish/SmolLM2-135M-Instruct.Q4_1.gguf");
    let path = env::var_os("PILOTFISH_WEIGHTS").map_or(usual, PathBuf::from);
    if path.exists() {
        return Model::open(&path).expect("the checkpoint opens");
    }
    let config = Config::from_json(SHAPE, "bench").expect("the shape is a Llama's");
    Model::synthetic("smollm2-135m, seeded", config, 1).expect("a shape can be drawn")
}

fn prompt(config: &Config, tokens: usize) -> Vec<u32> {
    (0..tokens).map(|i| ((i * 7919 + 13) % config.vocab) as u32).collect()
}

fn prefill(oracle: &Oracle, tokens: &[u32]) {
    let mut cache = Cache::new(oracle.config(), tokens.len());
    let logits = oracle.prefill(tokens, Logits::Last, &mut cache, &mut NoTap);
    black_box(logits.expect("a prompt runs"));
}

/// The same products and nothing else.
fn products(oracle: &Oracle, m: usize) {
    let config = oracle.config();
    let weights = &oracle.model().weights;
    let x = vec![0.01; m * config.intermediate.max(config.q_width()).max(config.hidden)];
    for layer in 0..config.layers {
        for role in MATRICES {
            let w = weights.get(role, Some(layer)).expect("a layer has its matrices");
            let mut out = vec![0.0; m * w.rows()];
            matmul(&x[..m * w.width()], &w.data, &mut out, m, w.width());
            black_box(out);
        }
    }
    let head = weights.get(Role::Output, None).expect("a network has a head");
    let mut out = vec![0.0; head.rows()];
    matmul(&x[..head.width()], &head.data, &mut out, 1, head.width());
    black_box(out);
}

/// The best of several runs: other work on the machine only ever adds.
fn best(runs: usize, mut run: impl FnMut()) -> Duration {
    let time = |()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    std::iter::repeat_n((), runs).map(time).min().unwrap_or_default()
}

fn report(oracle: &Oracle) {
    let name = &oracle.model().name;
    println!("oracle of {name}, {} threads", rayon::current_num_threads());
    for tokens in [128, 512] {
        let ids = prompt(oracle.config(), tokens);
        prefill(oracle, &ids);
        // Turn by turn, so that a change of the machine's pace meets both.
        let (mut whole, mut part) = (Duration::MAX, Duration::MAX);
        for _ in 0..5 {
            whole = whole.min(best(1, || prefill(oracle, &ids)));
            part = part.min(best(1, || products(oracle, tokens)));
        }
        println!(
            "prefill {tokens}: {:.0} tokens/s; its products alone {:.0} tokens/s; share {:.0} %",
            tokens as f64 / whole.as_secs_f64(),
            tokens as f64 / part.as_secs_f64(),
            100.0 * part.as_secs_f64() / whole.as_secs_f64()
        );
    }
    let steps = 32;
    let ids = prompt(oracle.config(), 64);
    let mut cache = Cache::new(oracle.config(), 64 + steps);
    oracle.prefill(&ids, Logits::Last, &mut cache, &mut NoTap).expect("a prompt runs");
    let decode = best(3, || {
        cache.truncate(64);
        for id in &ids[..steps] {
            black_box(oracle.step(*id, &mut cache, &mut NoTap).expect("a token runs"));
        }
    });
    println!("decode: {:.1} tokens/s", steps as f64 / decode.as_secs_f64());
}

fn main() {
    let oracle = Oracle::new(Arc::new(model())).expect("the weights are complete");
    report(&oracle);
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let mut group = criterion.benchmark_group("oracle");
    for tokens in [128, 512] {
        let ids = prompt(oracle.config(), tokens);
        group.throughput(Throughput::Elements(tokens as u64));
        group.bench_with_input(BenchmarkId::new("prefill", tokens), &ids, |bench, ids| {
            bench.iter(|| prefill(&oracle, ids));
        });
    }
    let ids = prompt(oracle.config(), 64);
    let mut cache = Cache::new(oracle.config(), 65);
    oracle.prefill(&ids, Logits::Last, &mut cache, &mut NoTap).expect("a prompt runs");
    group.throughput(Throughput::Elements(1));
    group.bench_function("decode", |bench| {
        bench.iter(|| {
            cache.truncate(64);
            black_box(oracle.step(7, &mut cache, &mut NoTap).expect("a token runs"))
        });
    });
    group.finish();
    criterion.final_summary();
}
