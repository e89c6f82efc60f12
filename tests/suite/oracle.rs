//! The oracle against other people's implementations, and against planted mistakes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilotfish::model::{
    Cache, Config, Fault, Logits, Message, Model, Oracle, Padding, bundled_names, greedy,
    reference, top,
};
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

fn tiny(family: &str) -> Option<Model> {
    Some(Model::open(&need::shared(&format!("models/tiny/{family}"))?).unwrap())
}

/// Any ids will do where two computations are compared with each other.
fn some_ids(config: &Config, count: usize) -> Vec<u32> {
    (0..count).map(|i| ((i * 2_654_435 + 97) % config.vocab) as u32).collect()
}

#[test]
fn the_reference_in_f64_judges_alike() {
    let bundled = bundled_names().into_iter().map(|name| Model::bundled(name).unwrap());
    for model in TINY.iter().filter_map(|family| tiny(family)).chain(bundled) {
        let model = Arc::new(model);
        let tokens = some_ids(&model.config, 23);
        let (mut fast, mut slow) = (Trace::all(), Trace::all());
        run(&Oracle::new(Arc::clone(&model)).unwrap(), &tokens, &mut fast);
        reference(&model, &tokens, &mut slow).unwrap();
        assert_eq!(slow.len(), 3 + 5 * model.config.layers);
        for (name, slow) in slow.iter() {
            let c = Comparison::of(&slow.data, &fast.get(name).unwrap().data);
            assert!(c.rel_l2 <= 3e-6, "{} {name}: {:e}", model.name, c.rel_l2);
        }
    }
}

#[test]
fn the_reference_itself_agrees_with_f64_of_others() {
    for family in TINY {
        let Some(model) = tiny(family) else { return };
        let folder = need::shared(&format!("models/tiny/{family}")).unwrap();
        let bytes = fs::read(folder.join("reference.safetensors")).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let cases = json(&folder.join("reference.json"));
        let tokens = ids(&cases["cases"][2]["input_ids"]);
        let logits = reference(&model, &tokens, &mut NoTap).unwrap();
        let c = Comparison::of(&tensor(&file, "case2.logits_f64"), &logits.data);
        assert!(c.rel_l2 <= 2e-7, "{family}: {:e}", c.rel_l2);
    }
}

#[test]
fn the_reference_and_the_oracle_read_the_real_model_alike() {
    let Some((model, _)) = smollm2() else { return };
    let tokens = model.tokenizer.as_ref().unwrap().encode("Water freezes at").unwrap();
    let wanted = ["layers.*.hidden", "layers.0.q_rope", "logits"];
    let (mut fast, mut slow) = (Trace::of(wanted), Trace::of(wanted));
    run(&Oracle::new(Arc::clone(&model)).unwrap(), &tokens, &mut fast);
    reference(&model, &tokens, &mut slow).unwrap();
    for (name, slow) in slow.iter() {
        let fast = fast.get(name).unwrap();
        for row in compare::rows(&slow.data, &fast.data, slow.width()) {
            assert!(row.rel_l2 <= 1e-5, "{name}: {:e}", row.rel_l2);
        }
    }
}

/// What changes nothing, by the mathematics: a norm takes the scale of its input away.
fn is_normed_away(config: &Config, name: &str) -> bool {
    let last = format!("layers.{}.", config.layers - 1);
    name == "final_hidden"
        || name == format!("{last}hidden")
        || (config.qk_norm && matches!(name.rsplit_once('.'), Some((_, "q" | "k"))))
}

#[test]
fn a_mistake_in_any_operator_is_seen() {
    const LIMIT: f64 = 3e-6;
    for family in ["llama3", "qwen2", "qwen3"] {
        let Some(model) = tiny(family) else { return };
        let model = Arc::new(model);
        let tokens = some_ids(&model.config, 17);
        let logits = |fault: Option<Fault>| {
            let oracle = Oracle::new(Arc::clone(&model)).unwrap();
            let oracle = fault
                .map_or(oracle, |fault| Oracle::new(Arc::clone(&model)).unwrap().with_fault(fault));
            run(&oracle, &tokens, &mut NoTap).data
        };
        let good = logits(None);
        let mut trace = Trace::all();
        run(&Oracle::new(Arc::clone(&model)).unwrap(), &tokens, &mut trace);
        let seen = |fault: Fault| Comparison::of(&good, &logits(Some(fault))).rel_l2;
        for (name, _) in trace.iter() {
            let roll = seen(Fault::Roll { at: name.into() });
            assert!(roll > 100.0 * LIMIT, "{family} {name} rolled: {roll:e}");
            let scaled = seen(Fault::Scale { at: name.into(), by: 1.001 });
            assert!(
                scaled > 3.0 * LIMIT || is_normed_away(&model.config, name),
                "{family} {name} scaled: {scaled:e}"
            );
        }
        for fault in [Fault::Unmasked, Fault::Unrotated] {
            assert!(seen(fault.clone()) > 100.0 * LIMIT, "{family} {fault:?}");
        }
        // Mistakes in the config: everything that changes no shape.
        let wrong: [fn(&mut Config); 4] = [
            |c| c.norm_eps *= 10.0,
            |c| c.rope_theta *= 2.0,
            |c| c.qkv_bias = false,
            |c| c.qk_norm = false,
        ];
        for (index, wrong) in wrong.iter().enumerate() {
            let mut model = tiny(family).unwrap();
            let before = model.config.clone();
            wrong(&mut model.config);
            if model.config == before {
                continue;
            }
            let oracle = Oracle::new(Arc::new(model)).unwrap();
            let off = Comparison::of(&good, &run(&oracle, &tokens, &mut NoTap).data).rel_l2;
            assert!(off > LIMIT, "{family} mistake {index}: {off:e}");
        }
    }
}

#[test]
fn decoding_one_by_one_is_prefill() {
    for name in bundled_names() {
        let oracle = Oracle::new(Arc::new(Model::bundled(name).unwrap())).unwrap();
        let tokens = some_ids(oracle.config(), 40);
        let whole = run(&oracle, &tokens, &mut NoTap);
        let mut cache = Cache::new(oracle.config(), tokens.len());
        oracle.prefill(&tokens[..7], Logits::Last, &mut cache, &mut NoTap).unwrap();
        for (at, token) in tokens.iter().enumerate().skip(7) {
            let logits = oracle.step(*token, &mut cache, &mut NoTap).unwrap();
            let c = Comparison::of(whole.row(at), &logits);
            assert!(c.rel_l2 <= 3e-6, "{name} {at}: {:e}", c.rel_l2);
        }
        // What was forgotten can be said again.
        cache.truncate(20);
        let logits = oracle.step(tokens[20], &mut cache, &mut NoTap).unwrap();
        assert!(Comparison::of(whole.row(20), &logits).rel_l2 <= 3e-6);
    }
}

#[test]
fn a_padded_network_says_the_same() {
    let bundled = bundled_names().into_iter().map(|name| Model::bundled(name).unwrap());
    for model in TINY.iter().filter_map(|family| tiny(family)).chain(bundled) {
        let name = model.name.clone();
        let none = Padding::none(&model.config);
        let group = model.config.group();
        let wider = [
            Padding { heads: none.kv_heads * (group + 1), ..none },
            Padding { heads: (none.kv_heads + 1) * group, kv_heads: none.kv_heads + 1, ..none },
            Padding { hidden: none.hidden + 64, intermediate: none.intermediate + 96, ..none },
            Padding { head_dim: none.head_dim * 2, ..none },
        ];
        let tokens = some_ids(&model.config, 50);
        let model = Arc::new(model);
        let plain = run(&Oracle::new(Arc::clone(&model)).unwrap(), &tokens, &mut NoTap);
        for padding in wider {
            let padded = Arc::new(model.padded(padding).unwrap());
            assert_ne!(padded.hash(), model.hash());
            let logits = run(&Oracle::new(padded).unwrap(), &tokens, &mut NoTap);
            let c = Comparison::of(&plain.data, &logits.data);
            assert!(c.cosine >= 0.999_998 && c.rel_l2 < 1e-4, "{name} {padding:?}: {c:?}");
        }
        assert!(model.padded(Padding { heads: 1, kv_heads: 0, ..none }).is_err());
    }
}

#[test]
fn the_real_model_with_phantom_heads_says_the_same() {
    let Some((model, _)) = smollm2() else { return };
    let tokens = some_ids(&model.config, 32);
    let plain = run(&Oracle::new(Arc::clone(&model)).unwrap(), &tokens, &mut NoTap);
    let padding = Padding { heads: 12, ..Padding::none(&model.config) };
    let padded = Oracle::new(Arc::new(model.padded(padding).unwrap())).unwrap();
    let logits = run(&padded, &tokens, &mut NoTap);
    for row in compare::rows(&plain.data, &logits.data, plain.width()) {
        assert!(row.cosine >= 0.999_998, "{}", row.cosine);
    }
}

#[test]
fn the_small_models_write_what_their_card_says() {
    for name in bundled_names() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name);
        let card = json(&folder.join("CARD.json"));
        let model = Arc::new(Model::bundled(name).unwrap());
        let tokenizer = model.tokenizer.clone().unwrap();
        let sample = card["sample"].as_str().unwrap();
        let prompt = tokenizer.encode("At dawn the pilot fish").unwrap();
        let made = generate(&Oracle::new(model).unwrap(), &prompt, 60);
        let text = format!("At dawn the pilot fish{}", tokenizer.decode(&made));
        assert!(text.starts_with(&sample[..100]), "{name}: {text}");
    }
}
