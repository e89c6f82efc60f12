//! The simulated device against the oracle, against itself, and against what buffers do wrong.

use std::sync::Arc;

use pilotfish::model::{Cache, Logits, Model, Oracle, Stage, greedy};
use pilotfish::npu::{Array, Machine, Outline, Program, lower};
use pilotfish::tensor::{NoTap, Trace};

pub fn outline(model: &Model) -> Outline {
    let c = &model.config;
    Outline {
        name: model.name.clone(),
        hidden: c.hidden,
        intermediate: c.intermediate,
        layers: c.layers,
        heads: c.heads,
        kv_heads: c.kv_heads,
        head_dim: c.head_dim,
        vocab: c.vocab,
        qkv_bias: c.qkv_bias,
        qk_norm: c.qk_norm,
    }
}

fn naive(model: &Model, seq: usize, capacity: usize) -> [Program; 2] {
    Stage::ALL.map(|stage| lower(&outline(model), &Array::xdna2(), stage, seq, capacity).0)
}

fn bundled(name: &str) -> Arc<Model> {
    Arc::new(Model::bundled(name).unwrap())
}

fn prompt(model: &Model, count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| (i * 37 + 11) % model.config.vocab as u32).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

const NAMES: [&str; 3] = ["tiny-llama", "tiny-qwen2", "tiny-qwen3"];

#[test]
fn a_naive_deployment_computes_the_network() {
    for name in NAMES {
        let model = bundled(name);
        let [prefill, decode] = naive(&model, 64, 96);
        let oracle = Oracle::new(Arc::clone(&model)).unwrap();
        let tokens = prompt(&model, 50);
        let mut cache = Cache::new(&model.config, 96);
        let mut expected = Trace::all();
        let truth = oracle.prefill(&tokens, Logits::All, &mut cache, &mut expected).unwrap();
        let mut machine =
            Machine::new(&prefill, Some(&decode), Arc::clone(&model), &Array::xdna2()).unwrap();
        let mut shown = Trace::all();
        let logits = machine.prefill(&tokens, Logits::All, &mut shown).unwrap();
        for (value, tensor) in expected.iter() {
            let got = shown.get(value).unwrap_or_else(|| panic!("{name}: no {value}"));
            assert_eq!(got.shape, tensor.shape, "{name} {value}");
            let c = cosine(&got.data, &tensor.data);
            eprintln!("{name} {value} {c:.6}");
        }
        eprintln!("{name} logits {:.6}", cosine(&logits.data, &truth.data));
        // Decode, fed with the oracle's words.
        let mut next = greedy(truth.last());
        let mut same = usize::from(next == greedy(logits.last()));
        for _ in 0..16 {
            let truth = oracle.step(next, &mut cache, &mut NoTap).unwrap();
            let got = machine.step(next, &mut NoTap).unwrap();
            assert!(cosine(&truth, &got) > 0.99, "{}", cosine(&truth, &got));
            next = greedy(&truth);
            same += usize::from(next == greedy(&got));
        }
        eprintln!("{name} same {same} of 17");
    }
}
