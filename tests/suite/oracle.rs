//! The oracle against other people's implementations, and against planted mistakes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilotfish::model::{Cache, Logits, Message, Model, Oracle, greedy, top};
use pilotfish::tensor::{Comparison, NoTap, Tap, Tensor, Trace, compare};
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

use crate::need;

const TINY: [&str; 4] = ["llama3", "llama3_short", "qwen2", "qwen3"];

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect()
}

/// A tensor of a reference file, narrowed to f32.
fn tensor(file: &SafeTensors<'_>, name: &str) -> Vec<f32> {
    let view = file.tensor(name).unwrap_or_else(|_| panic!("{name} is in the reference"));
    match view.dtype() {
        Dtype::F32 => {
            view.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        }
        Dtype::F64 => {
            view.data().as_chunks().0.iter().map(|b| f64::from_le_bytes(*b) as f32).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn run(oracle: &Oracle, tokens: &[u32], tap: &mut dyn Tap) -> Tensor {
    let mut cache = Cache::new(oracle.config(), tokens.len());
    oracle.prefill(tokens, Logits::All, &mut cache, tap).unwrap()
}

fn generate(oracle: &Oracle, prompt: &[u32], count: usize) -> Vec<u32> {
    let mut cache = Cache::new(oracle.config(), prompt.len() + count);
    let mut logits = oracle.prefill(prompt, Logits::Last, &mut cache, &mut NoTap).unwrap().data;
    let mut made = Vec::new();
    for _ in 0..count {
        made.push(greedy(&logits));
        logits = oracle.step(made[made.len() - 1], &mut cache, &mut NoTap).unwrap();
    }
    made
}

/// Their names of what a layer shows, and ours.
const NAMES: [(&str, &str); 11] = [
    ("input_layernorm", "attn_norm"),
    ("self_attn.q_proj", "q"),
    ("self_attn.k_proj", "k"),
    ("self_attn.v_proj", "v"),
    ("self_attn.q_norm", "q_norm"),
    ("self_attn.k_norm", "k_norm"),
    ("self_attn.o_proj", "o"),
    ("post_attention_layernorm", "ffn_norm"),
    ("mlp.gate_proj", "gate"),
    ("mlp.up_proj", "up"),
    ("mlp.down_proj", "down"),
];

fn ours(theirs: &str) -> Option<String> {
    let Some(rest) = theirs.strip_prefix("layer.") else {
        return matches!(theirs, "embed" | "final_norm" | "logits").then(|| theirs.to_owned());
    };
    match rest.split_once('.') {
        None => Some(format!("layers.{rest}.hidden")),
        Some((layer, part)) => {
            let (_, name) = NAMES.iter().find(|(theirs, _)| *theirs == part)?;
            Some(format!("layers.{layer}.{name}"))
        }
    }
}

#[test]
fn four_families_agree_with_their_reference() {
    for family in TINY {
        let Some(folder) = need::shared(&format!("models/tiny/{family}")) else { return };
        let oracle = Oracle::new(Arc::new(Model::open(&folder).unwrap())).unwrap();
        let bytes = fs::read(folder.join("reference.safetensors")).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let reference = json(&folder.join("reference.json"));
        for (case, of) in reference["cases"].as_array().unwrap().iter().enumerate() {
            let prompt = ids(&of["input_ids"]);
            let limit = if prompt.len() >= 5 { 3e-6 } else { 1e-5 };
            let mut trace = Trace::all();
            let logits = run(&oracle, &prompt, &mut trace);
            let prefix = format!("case{case}.");
            let mut compared = 0;
            for name in file.names() {
                let Some(theirs) = name.strip_prefix(&prefix) else { continue };
                let Some(ours) = ours(theirs) else {
                    assert!(
                        theirs == "input_ids"
                            || theirs == "logits_f64"
                            || theirs.contains("self_attn")
                            || theirs.contains("mlp"),
                        "{theirs} is known"
                    );
                    continue;
                };
                let got = trace.get(&ours).unwrap_or_else(|| panic!("no {ours}"));
                let c = Comparison::of(&tensor(&file, name), &got.data);
                assert!(c.rel_l2 <= limit && c.non_finite == 0, "{family} {name}: {:e}", c.rel_l2);
                compared += 1;
            }
            assert!(compared >= oracle.config().layers + 3, "{family} {case}: {compared}");
            let exact = tensor(&file, &format!("case{case}.logits_f64"));
            let c = Comparison::of(&exact, &logits.data);
            assert!(c.rel_l2 <= limit, "{family} {case}: {:e}", c.rel_l2);
            let best: Vec<u32> = top(logits.last(), 5).iter().map(|(id, _)| *id).collect();
            let expected: Vec<u32> = of["last_top5"]
                .as_array()
                .unwrap()
                .iter()
                .map(|x| x[0].as_u64().unwrap() as u32)
                .collect();
            assert_eq!(best, expected, "{family} {case}");
            let made = generate(&oracle, &prompt, 16);
            assert_eq!(made, ids(&of["greedy16"]), "{family} {case}");
        }
        let turns = json(&folder.join("inv_freq.json"));
        let expected = turns["inv_freq"].as_array().or(turns.as_array()).unwrap();
        for (got, expected) in oracle.config().inverse_frequencies().iter().zip(expected) {
            let expected = expected.as_f64().unwrap();
            assert!((got - expected).abs() <= 1e-6 * expected, "{family}: {got} {expected}");
        }
    }
}

fn smollm2() -> Option<(Arc<Model>, PathBuf)> {
    let shared = need::shared("models/reference")?;
    let model = Model::open(&need::weights()?).unwrap();
    Some((Arc::new(model), shared))
}

#[test]
fn the_real_tokenizer_is_exact() {
    let Some((model, shared)) = smollm2() else { return };
    let tokenizer = model.tokenizer.as_ref().unwrap();
    let texts = json(&shared.join("smollm2_tokenizer_fixture.json"));
    for case in texts.as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let expected = ids(&case["ids"]);
        assert_eq!(tokenizer.encode(text).unwrap(), expected, "{text:?}");
        assert_eq!(tokenizer.decode(&expected), text);
    }
    let asked = Message { role: "user".into(), content: "What is gravity?".into() };
    let text = tokenizer.chat(&[asked]).unwrap();
    let written = texts.as_array().unwrap().iter().any(|case| case["text"] == text);
    assert!(written, "{text}");
}

#[test]
fn the_real_model_agrees_with_three_implementations() {
    let Some((model, shared)) = smollm2() else { return };
    let oracle = Oracle::new(Arc::clone(&model)).unwrap();
    let visible = json(&shared.join("smollm2_visible.json"));
    for prompt in visible["prompts"].as_array().unwrap() {
        let name = prompt["id"].as_str().unwrap();
        let tokens = ids(&prompt["token_ids"]);
        let encoded = model.tokenizer.as_ref().unwrap().encode(prompt["text"].as_str().unwrap());
        assert_eq!(encoded.unwrap(), tokens, "{name}");
        let logits = run(&oracle, &tokens, &mut NoTap);
        let best: Vec<u32> = (0..tokens.len()).map(|i| greedy(logits.row(i))).collect();
        assert_eq!(best, ids(&prompt["argmax_every_position"]), "{name}");
        let expected = prompt["top10_last"].as_array().unwrap();
        for ((id, logit), expected) in top(logits.last(), 10).into_iter().zip(expected) {
            assert_eq!(u64::from(id), expected["id"].as_u64().unwrap(), "{name}");
            let off = (f64::from(logit) - expected["logit_f64"].as_f64().unwrap()).abs();
            assert!(off <= 5e-4, "{name}: {off}");
        }
        assert_eq!(generate(&oracle, &tokens, 32), ids(&prompt["greedy32"]), "{name}");
    }
}

#[test]
fn hidden_states_of_the_real_model_agree_token_by_token() {
    let Some((model, shared)) = smollm2() else { return };
    let oracle = Oracle::new(model).unwrap();
    let bytes = fs::read(shared.join("visible_hidden_v3.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let visible = json(&shared.join("smollm2_visible.json"));
    let prompts = visible["prompts"].as_array().unwrap();
    let third = prompts.iter().find(|one| one["id"].as_str().unwrap().starts_with("v3")).unwrap();
    let mut trace = Trace::of(["embed", "layers.*.hidden", "final_norm"]);
    let logits = run(&oracle, &ids(&third["token_ids"]), &mut trace);
    let mut compared = 0;
    for name in file.names() {
        let Some(got) = ours(name).and_then(|name| trace.get(&name)) else { continue };
        for (token, row) in compare::rows(&tensor(&file, name), &got.data, 576).iter().enumerate() {
            assert!(row.rel_l2 <= 1e-5, "{name} token {token}: {:e}", row.rel_l2);
        }
        compared += 1;
    }
    assert_eq!(compared, 32);
    let exact = tensor(&file, "last_logits_f64");
    let c = Comparison::of(&exact, logits.last());
    assert!(c.max_abs <= 5e-4, "{:e}", c.max_abs);
}
