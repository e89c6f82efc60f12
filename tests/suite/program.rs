//! Programs from naive to best: every step legal, every move taken back to the same bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use pilotfish::base::Finding;
use pilotfish::model::{Logits, Model, Stage};
use pilotfish::npu::{
    Array, Kernel, Machine, Outline, Program, ProgramText, Work, check, cost, effect, lower, moves,
    suggest,
};
use pilotfish::tensor::{Comparison, NoTap};

/// Tokens that decode attends to.
const CONTEXT: usize = 64;

/// What a deployment tries, as the recipes do; the others are for finding faults.
const TRIED: [&str; 7] = [
    "merge-dispatches",
    "make-static",
    "mark-intermediate",
    "align-layout",
    "retile",
    "move-to-npu",
    "pad-heads",
];

fn outline(name: &str, sizes: [usize; 7]) -> Outline {
    let [hidden, intermediate, layers, heads, kv_heads, head_dim, vocab] = sizes;
    Outline {
        name: name.to_owned(),
        hidden,
        intermediate,
        layers,
        heads,
        kv_heads,
        head_dim,
        vocab,
        qkv_bias: name.contains("qwen2"),
        qk_norm: name.contains("qwen3"),
    }
}

/// Network, its dispatches a layer in a naive program.
fn networks() -> Vec<(Outline, usize)> {
    vec![
        (outline("tiny-llama", [128, 256, 4, 2, 1, 64, 512]), 15),
        (outline("tiny-qwen2", [256, 256, 3, 4, 2, 64, 512]), 18),
        (outline("tiny-qwen3", [128, 512, 4, 3, 1, 64, 512]), 17),
        (outline("smollm2-135m", [576, 1536, 30, 9, 3, 64, 49152]), 15),
    ]
}

fn errors(program: &Program, array: &Array) -> Vec<String> {
    let found = check(program, array);
    found.iter().filter(|finding| finding.is_error()).map(Finding::to_string).collect()
}

fn has_attention(program: &Program) -> bool {
    program.dispatches.iter().any(|dispatch| match &dispatch.work {
        Work::Launches(launches) => {
            launches.iter().any(|l| matches!(l.kernel, Kernel::FlashAttention { .. }))
        }
        Work::Host(_) => false,
    })
}

#[test]
fn greedy_suggestions_reach_the_best_program() {
    let array = Array::xdna2();
    for (outline, per_layer) in networks() {
        for stage in Stage::ALL {
            let name = format!("{} {stage}", outline.name);
            let (mut program, findings) = lower(&outline, &array, stage, 512, 640);
            assert!(!findings.iter().any(Finding::is_error), "{name}: {findings:?}");
            assert_eq!(errors(&program, &array), [""; 0], "{name}");
            assert_eq!(program.dispatches_per_layer(), per_layer, "{name}");
            let first = cost(&program, &array, CONTEXT).cost;
            let mut steps = 0;
            while let Some(best) = suggest(&program, &array, CONTEXT, &TRIED, 1).first() {
                let made = moves::find(best.name).unwrap();
                let before = cost(&program, &array, CONTEXT).cost;
                let after = made.apply(&program, &best.site, &array).unwrap();
                assert_eq!(errors(&after, &array), [""; 0], "{name}: {}", best.words);
                assert_eq!(effect(&after), best.effect, "{name}: {}", best.words);
                let gain = before.minus(&cost(&after, &array, CONTEXT).cost).total();
                assert!((gain - best.alone_us).abs() < 1e-6, "{name}: {}", best.words);
                let parts: f64 = best.gain.categories().iter().map(|(_, us)| us).sum();
                assert!((parts - best.gain_us).abs() < 1e-6, "{name}: {}", best.words);
                eprintln!("{name}: {:9.1} us  {}", best.gain_us, best.words);
                program = after;
                steps += 1;
                assert!(steps < 60, "{name}: no end");
            }
            let last = cost(&program, &array, CONTEXT);
            let saved = first.minus(&last.cost);
            eprintln!(
                "{name}: {steps} moves, {:.0} -> {:.0} us ({:.2}x), {} a layer\n   saved {saved}\n   left {}",
                first.total(),
                last.total_us(),
                first.total() / last.total_us(),
                last.dispatches_per_layer,
                last.cost,
            );
            let names: Vec<_> = program.dispatches.iter().map(|d| d.name.as_str()).collect();
            eprintln!("   {names:?}");
            assert!(first.total() >= 2.0 * last.total_us(), "{name}");
            assert_eq!(last.dispatches_per_layer, 3, "{name}");
            assert_eq!(has_attention(&program), stage == Stage::Prefill, "{name}");
            let heads = if stage == Stage::Prefill && outline.heads % 2 == 1 {
                outline.heads / outline.kv_heads * outline.kv_heads + outline.kv_heads
            } else {
                outline.heads
            };
            assert_eq!(program.heads, heads, "{name}");
        }
    }
}

/// Every move at every site of every program on the way, then back.
#[test]
fn a_move_and_its_inverse_give_the_same_bytes() {
    let array = Array::xdna2();
    let mut made_by = BTreeMap::new();
    for (outline, _) in networks() {
        for stage in Stage::ALL {
            let mut program = lower(&outline, &array, stage, 512, 640).0;
            loop {
                let text = ProgramText::new(program.clone());
                for made in moves::all() {
                    for site in made.sites(&program, &array) {
                        let place =
                            format!("{} {stage}: {}", outline.name, made.words(&program, &site));
                        assert_eq!(moves::Site::parse(&site.to_json()).unwrap(), site);
                        let after = made.apply(&program, &site, &array).unwrap();
                        assert_ne!(effect(&after), effect(&program), "{place}");
                        let (back, at) = made.inverse(&program, &site).unwrap();
                        let back = moves::find(back).unwrap();
                        let again = back.apply(&after, &at, &array);
                        let again = again.unwrap_or_else(|finding| panic!("{place}: {finding}"));
                        let there = text.with(&after);
                        let back = there.with(&again);
                        let differs = back.text().lines().zip(text.text().lines());
                        let differs = differs.into_iter().find(|(is, was)| is != was);
                        assert_eq!(differs, None, "{place}");
                        assert_eq!(back.text().len(), text.text().len(), "{place}");
                        let (parsed, findings) = ProgramText::parse("x", there.text());
                        assert_eq!(
                            parsed.as_ref().map(ProgramText::program),
                            Some(&after),
                            "{findings:?}"
                        );
                        *made_by.entry(made.name()).or_insert(0) += 1;
                    }
                }
                let Some(best) = suggest(&program, &array, CONTEXT, &TRIED, 1).pop() else { break };
                let made = moves::find(best.name).unwrap();
                program = made.apply(&program, &best.site, &array).unwrap();
            }
        }
    }
    eprintln!("{made_by:?}");
    for made in moves::all() {
        assert!(made_by.contains_key(made.name()), "{} was never made", made.name());
    }
}

fn outline_of(model: &Model) -> Outline {
    Outline::new(&model.name, &model.config)
}

/// A prompt, then two tokens: the logits of each.
fn run(prefill: &Program, decode: &Program, model: &Arc<Model>, array: &Array) -> Vec<f32> {
    let model = Arc::clone(model);
    let mut machine = Machine::new(prefill, Some(decode), model, array).unwrap();
    let prompt: Vec<u32> = (0..40).map(|at| at * 37 % 500).collect();
    let mut all = machine.prefill(&prompt, Logits::Last, &mut NoTap).unwrap().data;
    for token in [7, 311] {
        all.extend(machine.step(token, &mut NoTap).unwrap());
    }
    all
}

/// Moves that change no arithmetic leave every bit; the others stay within rounding.
#[test]
fn moves_keep_the_meaning() {
    const EXACT: [&str; 4] =
        ["merge-dispatches", "make-static", "mark-intermediate", "align-layout"];
    let array = Array::xdna2();
    for name in ["tiny-llama", "tiny-qwen2", "tiny-qwen3"] {
        let model = Arc::new(Model::bundled(name).unwrap());
        let outline = outline_of(&model);
        let mut programs = Stage::ALL.map(|stage| lower(&outline, &array, stage, 512, 576).0);
        let first = run(&programs[0], &programs[1], &model, &array);
        let mut before = first.clone();
        for at in 0..2 {
            while let Some(best) = suggest(&programs[at], &array, CONTEXT, &TRIED, 1).pop() {
                let made = moves::find(best.name).unwrap();
                programs[at] = made.apply(&programs[at], &best.site, &array).unwrap();
                let after = run(&programs[0], &programs[1], &model, &array);
                if EXACT.contains(&best.name) {
                    assert!(after == before, "{name}: {}", best.words);
                }
                let cosine = Comparison::of(&first, &after).cosine;
                assert!(cosine > 0.99, "{name}: {cosine} after {}", best.words);
                before = after;
            }
        }
        let padded = programs[0].clone();
        for (dimension, width) in [("intermediate", 768), ("hidden", 512)] {
            let site = serde_json::json!({ "dimension": dimension, "width": width });
            let site = moves::Site::parse(&site).unwrap();
            let pad = moves::find("pad-dims").unwrap();
            let wide = pad.apply(&padded, &site, &array).unwrap();
            assert_eq!(errors(&wide, &array), [""; 0], "{name} {dimension}");
            let after = run(&wide, &programs[1], &model, &array);
            let cosine = Comparison::of(&first, &after).cosine;
            assert!(cosine > 0.99, "{name}: {cosine} with {dimension} {width}");
        }
    }
}
