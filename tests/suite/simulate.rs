//! The simulated device against the oracle, and programs of one network against each other.

use std::sync::Arc;

use pilotfish::base::{Progress, Stop};
use pilotfish::model::{Cache, Logits, Model, Oracle, Stage, Workload, greedy};
use pilotfish::npu::{
    Array, Counts, Kernel, Machine, Outline, Place, Program, ProgramText, Work, cost, lower, moves,
    suggest,
};
use pilotfish::target::{Sim, Target, TargetError};
use pilotfish::tensor::{NoTap, Trace};
use pilotfish::workspace::{Path, Snapshot};

/// The least cosine of logits, of the device against the network and of one program against another:
/// what the gate `block` asks of one layer.
const CLOSE: f64 = 0.99;
const NAMES: [&str; 3] = ["tiny-llama", "tiny-qwen2", "tiny-qwen3"];

/// Moves that change where things lie and when they are copied, and no number.
const QUIET: [&str; 4] = ["merge-dispatches", "make-static", "mark-intermediate", "align-layout"];

pub fn naive(model: &Model, seq: usize, capacity: usize) -> [Program; 2] {
    let outline = Outline::new(&model.name, &model.config);
    Stage::ALL.map(|stage| lower(&outline, &Array::xdna2(), stage, seq, capacity).0)
}

pub fn bundled(name: &str) -> Arc<Model> {
    Arc::new(Model::bundled(name).unwrap())
}

pub fn prompt(model: &Model, count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| (i * 37 + 11) % model.config.vocab as u32).collect()
}

pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    if a == b { 1.0 } else { dot(a, b) / (dot(a, a) * dot(b, b)).sqrt() }
}

/// Greedily the best of these moves, until none pays.
fn improved(program: &Program, moves_tried: &[&str]) -> Program {
    let array = Array::xdna2();
    let mut program = program.clone();
    while let Some(best) = suggest(&program, &array, 64, moves_tried, 1).first() {
        let made = moves::find(best.name).unwrap();
        program = made.apply(&program, &best.site, &array).unwrap();
    }
    program
}

fn machine(model: &Arc<Model>, [prefill, decode]: &[Program; 2]) -> Machine {
    Machine::new(prefill, Some(decode), Arc::clone(model), &Array::xdna2()).unwrap()
}

/// Logits of a prompt and of some given tokens after it.
fn logits(machine: &mut Machine, tokens: &[u32], after: usize) -> Vec<Vec<f32>> {
    let mut all = vec![machine.prefill(tokens, Logits::Last, &mut NoTap).unwrap().data];
    all.extend((0..after as u32).map(|i| machine.step(3 * i + 1, &mut NoTap).unwrap()));
    all
}

#[test]
fn a_naive_deployment_computes_the_network() {
    for name in NAMES {
        let model = bundled(name);
        let mut machine = machine(&model, &naive(&model, 64, 96));
        let oracle = Oracle::new(Arc::clone(&model)).unwrap();
        let tokens = prompt(&model, 50);
        let mut cache = Cache::new(&model.config, 96);
        let (mut expected, mut shown) = (Trace::all(), Trace::all());
        let truth = oracle.prefill(&tokens, Logits::All, &mut cache, &mut expected).unwrap();
        let got = machine.prefill(&tokens, Logits::All, &mut shown).unwrap();
        let mut least = ("", 1.0);
        for (value, tensor) in expected.iter() {
            let got = shown.get(value).unwrap_or_else(|| panic!("{name}: no {value}"));
            assert_eq!(got.shape, tensor.shape, "{name} {value}");
            let likeness = cosine(&got.data, &tensor.data);
            if likeness < least.1 {
                least = (value, likeness);
            }
        }
        assert!(least.1 > 0.998, "{name}: {least:?}");
        assert!(cosine(&got.data, &truth.data) > 0.999_5, "{name}");
        let block = cosine(
            &shown.get("layers.0.hidden").unwrap().data,
            &expected.get("layers.0.hidden").unwrap().data,
        );
        assert!(block > 0.999_5, "{name}: {block}");
        // Decode, fed with the oracle's words.
        let mut next = greedy(truth.last());
        let mut same = usize::from(next == greedy(got.last()));
        for _ in 0..31 {
            let truth = oracle.step(next, &mut cache, &mut NoTap).unwrap();
            let got = machine.step(next, &mut NoTap).unwrap();
            assert!(cosine(&truth, &got) > CLOSE, "{name}: {}", cosine(&truth, &got));
            next = greedy(&truth);
            same += usize::from(next == greedy(&got));
        }
        eprintln!("{name}: least {least:?}, block {block:.6}, greedy {same} of 32");
        assert!(same >= 31, "{name}: {same} of 32");
    }
}

#[test]
fn merging_and_residency_change_no_number() {
    for name in NAMES {
        let model = bundled(name);
        let programs = naive(&model, 512, 640);
        let quiet = [0, 1].map(|at| improved(&programs[at], &QUIET));
        let tokens = prompt(&model, 70);
        let (mut before, mut after) = (machine(&model, &programs), machine(&model, &quiet));
        for _ in 0..2 {
            let (a, b) = (logits(&mut before, &tokens, 3), logits(&mut after, &tokens, 3));
            assert!(a == b, "{name}");
        }
        let count = |machine: &Machine| {
            let total = machine.counters().prefill.total;
            [total.dispatches as u64, total.bytes_written]
        };
        let ([many, written], [few, kept]) = (count(&before), count(&after));
        assert!(few < many / 3 && kept < written, "{name}");
    }
}

#[test]
fn the_best_program_stays_close_and_counts_what_was_predicted() {
    for name in NAMES {
        let model = bundled(name);
        let programs = naive(&model, 512, 640);
        let best = [0, 1].map(|at| improved(&programs[at], &[]));
        let attends = best[0].dispatches.iter().any(|dispatch| match &dispatch.work {
            Work::Launches(all) => {
                all.iter().any(|launch| matches!(launch.kernel, Kernel::FlashAttention { .. }))
            }
            Work::Host(_) => false,
        });
        assert!(attends, "{name}");
        let tokens = prompt(&model, 300);
        let (mut plain, mut fast) = (machine(&model, &programs), machine(&model, &best));
        let oracle = Oracle::new(Arc::clone(&model)).unwrap();
        let mut cache = Cache::new(&model.config, 640);
        let mut truth =
            vec![oracle.prefill(&tokens, Logits::Last, &mut cache, &mut NoTap).unwrap().data];
        let steps = 7;
        truth.extend((0..steps).map(|i| oracle.step(3 * i + 1, &mut cache, &mut NoTap).unwrap()));
        let a = logits(&mut plain, &tokens, steps as usize);
        let b = logits(&mut fast, &tokens, steps as usize);
        for (at, ((a, b), truth)) in a.iter().zip(&b).zip(&truth).enumerate() {
            eprintln!("{name} {at}: {:.6} {:.6}", cosine(a, truth), cosine(b, truth));
            assert!(cosine(b, truth) > CLOSE, "{name} {at}: {}", cosine(b, truth));
            assert!(cosine(a, b) > CLOSE, "{name} {at}: {}", cosine(a, b));
        }
        // What ran is what the cost model says of the program.
        for (program, counts, calls) in [
            (&best[0], &fast.counters().prefill, 1),
            (&best[1], &fast.counters().decode, steps as usize),
        ] {
            let profile = cost(program, &Array::xdna2(), 300);
            let Counts { total, .. } = counts;
            assert_eq!(counts.calls, calls);
            assert_eq!(counts.dispatches_per_layer(), 3, "{name}");
            assert_eq!(total.launches, profile.launches * calls, "{name}");
            let fixed: usize = program
                .buffers
                .iter()
                .filter(|buffer| buffer.residency == pilotfish::npu::Residency::Static)
                .map(|buffer| {
                    let layer = buffer.scope == pilotfish::npu::Scope::Layer;
                    buffer.bytes() * if layer { program.layers } else { 1 }
                })
                .sum();
            let moved = profile.upload_bytes as u64 * calls as u64 + fixed as u64;
            assert_eq!(total.bytes_written + total.bytes_read, moved, "{name}");
        }
        let made = &fast.counters().prefill.made["attn"];
        assert_eq!((made.place, made.operator.as_str()), (Place::Array, "flash-attention"));
        assert_eq!(plain.counters().prefill.made["attn"].place, Place::Host);
    }
}

#[test]
fn phantom_heads_change_nothing() {
    let model = bundled("tiny-qwen3");
    let [prefill, decode] = naive(&model, 64, 96);
    let array = Array::xdna2();
    let pad = moves::find("pad-heads").unwrap();
    let site = pad.sites(&prefill, &array).remove(0);
    let mut padded = pad.apply(&prefill, &site, &array).unwrap();
    assert_eq!((prefill.heads, padded.heads), (3, 4));
    // The same method everywhere, so that nothing but the padding differs.
    for dispatch in &mut padded.dispatches {
        let (Work::Launches(now), Some(Work::Launches(was))) = (
            &mut dispatch.work,
            prefill.dispatches.iter().find(|at| at.name == dispatch.name).map(|at| &at.work),
        ) else {
            continue;
        };
        for (now, was) in now.iter_mut().zip(was) {
            let method = match was.kernel {
                Kernel::Gemm { method, .. } => Some(method),
                _ => None,
            };
            if let (Kernel::Gemm { method: own, .. }, Some(method)) = (&mut now.kernel, method) {
                *own = method;
                now.outputs.clone_from(&was.outputs);
            }
        }
    }
    let open = |program: &Program| {
        Machine::unchecked(program, Some(&decode), Arc::clone(&model), &array).unwrap()
    };
    let (mut wide, mut narrow) = (Trace::all(), Trace::all());
    let tokens = prompt(&model, 60);
    let (mut a, mut b) = (open(&prefill), open(&padded));
    a.prefill(&tokens, Logits::Last, &mut narrow).unwrap();
    b.prefill(&tokens, Logits::Last, &mut wide).unwrap();
    for (value, tensor) in narrow.iter() {
        let got = wide.get(value).unwrap();
        assert_eq!(got.shape, tensor.shape, "{value}");
        let likeness = cosine(&got.data, &tensor.data);
        assert!(likeness > 0.999_998, "{value}: {likeness}");
    }
    // The cache has no phantoms: decode goes on from either.
    let (a, b) = (a.step(5, &mut NoTap).unwrap(), b.step(5, &mut NoTap).unwrap());
    assert!(cosine(&a, &b) > 0.999_998);
}

#[test]
fn wider_dimensions_change_little() {
    let model = bundled("tiny-llama");
    let programs = naive(&model, 64, 96);
    let array = Array::xdna2();
    let pad = moves::find("pad-dims").unwrap();
    for (dimension, width) in [("hidden", 256), ("intermediate", 512)] {
        let site = moves::Pad { dimension: dimension.into(), width, tilings: Vec::new() };
        let site = moves::Site::Pad(site);
        let padded = [0, 1].map(|at| pad.apply(&programs[at], &site, &array).unwrap());
        let open = |[prefill, decode]: &[Program; 2]| {
            Machine::unchecked(prefill, Some(decode), Arc::clone(&model), &array).unwrap()
        };
        let tokens = prompt(&model, 60);
        let a = logits(&mut open(&programs), &tokens, 4);
        let b = logits(&mut open(&padded), &tokens, 4);
        for (a, b) in a.iter().zip(&b) {
            assert!(cosine(a, b) > 0.999, "{dimension}: {}", cosine(a, b));
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let model = bundled("tiny-qwen3");
    let programs = naive(&model, 512, 640);
    let best = [0, 1].map(|at| improved(&programs[at], &[]));
    let tokens = prompt(&model, 200);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            [&programs, &best].map(|programs| logits(&mut machine(&model, programs), &tokens, 2))
        })
    };
    let one = run(1);
    assert!(one == run(2));
    assert!(one == run(5));
}

fn snapshot(programs: &[Program; 2]) -> Snapshot {
    let mut snapshot = Snapshot::in_memory([]);
    for program in programs {
        let path = Path::new(&format!("program/{}.toml", program.stage)).unwrap();
        snapshot = snapshot.with(path, ProgramText::new(program.clone()).text().as_bytes());
    }
    snapshot
}

#[test]
fn a_snapshot_runs_on_the_embedded_target() {
    let model = bundled("tiny-llama");
    let programs = naive(&model, 64, 96);
    let sim = Sim::new(Arc::clone(&model), Array::xdna2());
    let tree = snapshot(&programs);
    assert!(!sim.check(&tree).iter().any(pilotfish::base::Finding::is_error));
    let workload = Workload { prompt: prompt(&model, 40), tokens: 12 };
    let heard = Arc::new(std::sync::Mutex::new(0));
    let count = Arc::clone(&heard);
    let progress = Progress::to(|_| (), move |_| *count.lock().unwrap() += 1);
    let wanted = ["layers.0.hidden", "logits"];
    let run = sim.run(&tree, &workload, &wanted, &progress, &Stop::never()).unwrap();
    assert_eq!(run.tokens.len(), 12);
    assert_eq!(run.trace.get("layers.0.hidden").unwrap().shape, [51, model.config.hidden]);
    assert_eq!(run.trace.get("logits").unwrap().shape, [12, model.config.vocab]);
    assert_eq!(run.trace.len(), 2);
    assert_eq!(run.profiles.len(), 2);
    assert_eq!(run.counters.as_ref().unwrap().decode.calls, 11);
    assert!(*heard.lock().unwrap() > 20);
    let mut cache = Cache::new(&model.config, 96);
    let oracle = Oracle::new(Arc::clone(&model)).unwrap();
    let mut expected = Vec::new();
    let mut last =
        oracle.prefill(&workload.prompt, Logits::Last, &mut cache, &mut NoTap).unwrap().data;
    while expected.len() < 12 {
        expected.push(greedy(&last));
        last = oracle.step(expected[expected.len() - 1], &mut cache, &mut NoTap).unwrap();
    }
    assert_eq!(run.tokens, expected);

    // Stopped, lacking a file, or illegal: told apart.
    let (guard, stop) = Stop::guarded();
    drop(guard);
    let stopped = sim.run(&tree, &workload, &[], &progress, &stop);
    assert!(matches!(stopped, Err(TargetError::Stopped)));
    let [prefill, mut decode] = programs;
    let alone = Snapshot::in_memory([(
        Path::new("program/prefill.toml").unwrap(),
        ProgramText::new(prefill.clone()).text().as_bytes(),
    )]);
    let findings = sim.check(&alone);
    assert!(findings.iter().any(|finding| finding.place == "program/decode.toml"));
    decode.dispatches.truncate(3);
    let broken = sim.run(&snapshot(&[prefill, decode]), &workload, &[], &progress, &Stop::never());
    assert!(matches!(broken, Err(TargetError::Refused { .. })));
    assert_eq!(sim.fingerprint(), Sim::new(model, Array::xdna2()).fingerprint());
}
