//! Gates judged as the program judges them: an honest deployment passes, broken ones fail rightly.

use std::fs;
use std::path::Path;

use pilotfish::base::Progress;
use pilotfish::model::{Model, Stage};
use pilotfish::npu::{Array, Fill, Kernel, Program, ProgramText, Residency, Scope, Work, lower};
use pilotfish::pipeline::evaluate::{Line, read};
use pilotfish::pipeline::{
    Answer, GateRequest, Receipts, gates, judge_workspace, needs, outline, worker,
};
use pilotfish::session::{Phase, Verdict};
use tempfile::TempDir;

use crate::need;

/// A workspace of a model with the naive programs, each changed before it is written.
fn workspace(model: &str, seq: usize, change: impl Fn(&mut Program)) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let opened = if Path::new(model).exists() {
        Model::open(Path::new(model)).unwrap()
    } else {
        Model::bundled(model).unwrap()
    };
    fs::write(
        root.join("pilotfish.toml"),
        format!("model = {model:?}\nseq = {seq}\ntokens = 32\n"),
    )
    .unwrap();
    for place in ["program", ".pilotfish/baseline"] {
        fs::create_dir_all(root.join(place)).unwrap();
    }
    for stage in Stage::ALL {
        let (mut program, _) = lower(&outline(&opened), &Array::xdna2(), stage, seq, seq + 128);
        let write = |place: &str, program: &Program| {
            let text = ProgramText::new(program.clone());
            fs::write(root.join(place).join(format!("{stage}.toml")), text.text()).unwrap();
        };
        write(".pilotfish/baseline", &program);
        change(&mut program);
        write("program", &program);
    }
    let plan = Phase::ALL.map(|phase| format!("- [x] {}\n", phase.title())).concat();
    fs::write(root.join("plan.md"), plan).unwrap();
    let rows = "| step | stage |\n|---|---|\n| 1 | prefill |\n| 2 | decode |\n";
    fs::write(root.join("perf_opt_traj.md"), rows).unwrap();
    fs::write(root.join("issues.md"), "# Issues\n").unwrap();
    folder
}

pub(crate) fn tiny(change: impl Fn(&mut Program)) -> TempDir {
    workspace("tiny-llama", 512, change)
}

/// As the evaluator's own process does it.
pub(crate) fn judge(root: &Path, gate: &str, phase: Phase) -> Answer {
    let request = GateRequest::one(root, gate.into(), phase, 0);
    let mut out = Vec::new();
    worker::serve(&serde_json::to_vec(&request).unwrap()[..], &mut out).unwrap();
    let mut lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    loop {
        match read(lines.next().expect("an answer")).unwrap() {
            Line::Judged(answer) => return *answer,
            Line::Said(words) => eprintln!("  {words}"),
            other => panic!("{gate}: {other:?}"),
        }
    }
}

fn metric(answer: &Answer, name: &str) -> f64 {
    let found = answer.judged.metrics.iter().find(|metric| metric.name.starts_with(name));
    found.unwrap_or_else(|| panic!("no {name} in {:#?}", answer.judged)).margin
}

fn weights_stay(program: &mut Program) {
    for buffer in &mut program.buffers {
        if matches!(buffer.fill, Some(Fill::Weight(_))) {
            buffer.residency = Residency::Static;
        }
    }
}

#[test]
fn an_honest_deployment_passes_every_gate_and_every_gate_proves_itself() {
    let folder = tiny(weights_stay);
    let root = folder.path();
    let mut told = Vec::new();
    for phase in Phase::ALL.into_iter().filter(|phase| *phase < Phase::Decode) {
        for gate in needs(phase) {
            let answer = judge(root, gate, phase);
            told.push(format!(
                "{gate:10} {phase} {:6} ms {}",
                answer.duration_ms, answer.judged.headline
            ));
            assert_eq!(answer.judged.verdict, Verdict::Pass, "{gate}: {:#?}", answer.judged);
            assert!(answer.receipt.cases > 0 && !answer.report.is_empty());
            let proven = ["kernel", "block", "layers", "logits", "tokens", "faster"];
            if proven.contains(gate) {
                let killed = answer.judged.mutants.iter().filter(|m| m.killed == Some(true));
                assert!(killed.count() >= 4, "{gate}: {:#?}", answer.judged.mutants);
            } else {
                assert_eq!(answer.receipt.mutants_note, "none yet");
            }
            answer.keep(root).unwrap();
        }
    }
    eprintln!("{}", told.join("\n"));
    let (chain, findings) = Receipts::at(root).verify();
    assert!(findings.is_empty() && chain.len() > 12, "{findings:?}");
    // The same judgement again is the same receipt.
    let again = judge(root, "placement", Phase::Prefill).keep(root).unwrap();
    assert_eq!(again.receipt, chain.last().unwrap().0);
}

#[test]
fn a_planted_fault_fails_the_gate_that_is_there_for_it() {
    // Weights that are written once into memory that all layers share: refused before it runs.
    let weight = |role: &'static str, change: fn(&mut pilotfish::npu::Buffer), stage| {
        tiny(move |program| {
            let is = |fill: &Option<Fill>| matches!(fill, Some(Fill::Weight(of)) if of == role);
            let buffers = program.buffers.iter_mut().filter(|buffer| is(&buffer.fill));
            buffers.filter(|_| program.stage == stage).for_each(change);
        })
    };
    let shared = |buffer: &mut pilotfish::npu::Buffer| {
        buffer.residency = Residency::Static;
        buffer.scope = Scope::Model;
    };
    let stale = weight("attn_v.weight", shared, Stage::Prefill);
    let answer = judge(stale.path(), "legality", Phase::Kernels);
    assert_eq!(answer.judged.verdict, Verdict::Fail, "{:#?}", answer.judged);
    let answer = judge(stale.path(), "layers", Phase::Model);
    assert!(answer.judged.headline.contains("refuses"), "{:#?}", answer.judged);

    // The wrong weight of the right shape: legal, each kernel is right, and the block is wrong.
    let other = |buffer: &mut pilotfish::npu::Buffer| {
        buffer.fill = Some(Fill::Weight("ffn_gate.weight".into()));
    };
    let wrong = weight("ffn_up.weight", other, Stage::Prefill);
    assert!(judge(wrong.path(), "legality", Phase::Kernels).judged.passed());
    assert!(judge(wrong.path(), "kernel", Phase::Kernels).judged.passed());
    let answer = judge(wrong.path(), "block", Phase::Block);
    assert_eq!(answer.judged.verdict, Verdict::Fail, "{:#?}", answer.judged);
    assert!(metric(&answer, "r_ratio") < 0.0 && metric(&answer, "cosine_min_pos") < 0.0);

    // The same in decode alone: every layer of prefill is right, the words are not.
    let wrong = weight("ffn_up.weight", other, Stage::Decode);
    assert!(judge(wrong.path(), "layers", Phase::Model).judged.passed());
    let answer = judge(wrong.path(), "tokens", Phase::Model);
    assert_eq!(answer.judged.verdict, Verdict::Fail, "{:#?}", answer.judged);

    // The residual is added before the product that it must add is made.
    let order = tiny(|program| {
        let find = |name: &str| program.dispatches.iter().position(|d| d.name == name).unwrap();
        let (made, used) = (find("down"), find("hidden"));
        let last = program.dispatches.iter().rposition(|d| d.name == "hidden").unwrap_or(used);
        program.dispatches.swap(made, last);
    });
    let answer = judge(order.path(), "legality", Phase::Kernels);
    assert_eq!(answer.judged.verdict, Verdict::Fail, "{:#?}", answer.judged);
    assert!(!answer.judged.headline.is_empty());
    let answer = judge(order.path(), "block", Phase::Block);
    assert_eq!(answer.judged.verdict, Verdict::Fail, "{:#?}", answer.judged);

    // A deployment of other layers, and no program at all.
    let short = tiny(|program| program.layers = 3);
    let answer = judge(short.path(), "legality", Phase::Kernels);
    assert_eq!(answer.judged.verdict, Verdict::Fail, "{:#?}", answer.judged);
    let none = tiny(weights_stay);
    fs::remove_file(none.path().join("program/decode.toml")).unwrap();
    for gate in ["legality", "kernel", "probe", "block", "layers", "logits", "tokens", "repeat"] {
        let answer = judge(none.path(), gate, Phase::Model);
        assert_eq!(answer.judged.verdict, Verdict::Fail, "{gate}");
        assert!(answer.judged.headline.contains("decode.toml"), "{}", answer.judged.headline);
    }
}

#[test]
fn an_unmasked_program_fails_the_block() {
    let folder = tiny(|program| {
        if program.stage == Stage::Decode {
            return;
        }
        let shape = (program.heads, program.kv_heads, program.head_dim, program.seq);
        let Some(dispatch) = program.dispatches.iter_mut().find(|d| d.name == "attn") else {
            return;
        };
        let (heads, kv_heads, head_dim, seq) = shape;
        let kernel = Kernel::FlashAttention {
            queries: seq,
            keys: seq,
            heads,
            kv_heads,
            head_dim,
            causal: false,
        };
        let Work::Host(op) = &dispatch.work else { return };
        let launch = pilotfish::npu::Launch {
            kernel,
            inputs: op.inputs.clone(),
            outputs: op.outputs.clone(),
            herd: [8, 4],
            tile: pilotfish::npu::Tile { m: 256, k_l2: 64, k_l1: 64, n: 64 },
        };
        dispatch.work = Work::Launches(vec![launch]);
    });
    let answer = judge(folder.path(), "block", Phase::Block);
    assert_eq!(answer.judged.verdict, Verdict::Fail, "{:#?}", answer.judged);
}

#[test]
fn documents_must_speak_of_each_phase_and_cite_what_is_there() {
    let folder = tiny(weights_stay);
    let root = folder.path();
    assert!(judge(root, "documents", Phase::Reference).judged.passed());
    let kept = judge(root, "faster", Phase::Prefill).keep(root).unwrap();
    let us = kept.metrics.iter().find(|metric| metric.name == "time_us").unwrap().measured;
    let row = |ms: f64, receipt: &str| {
        let text = format!(
            "| step | stage | after | kept | receipt |\n|---|---|--:|---|---|\n\
             | 1 | prefill | {ms:.3} ms | kept | `{receipt}` |\n| 2 | decode | 5 ms | kept | |\n"
        );
        fs::write(root.join("perf_opt_traj.md"), text).unwrap();
        judge(root, "documents", Phase::Integration)
    };
    let honest = row(us / 1e3, kept.receipt.short());
    assert!(honest.judged.passed(), "{:#?}", honest.judged);
    let unmeasured = honest.judged.metrics.iter().find(|m| m.name == "unmeasured").unwrap();
    assert_eq!(unmeasured.measured, 1.0, "a person's own number does not fail the gate");
    assert_eq!(row(us / 2e3, kept.receipt.short()).judged.verdict, Verdict::Fail);
    assert_eq!(row(us / 1e3, "0123456789ab").judged.verdict, Verdict::Fail);
    fs::write(root.join("plan.md"), "- [ ] CPU reference\n").unwrap();
    assert_eq!(judge(root, "documents", Phase::Reference).judged.verdict, Verdict::Fail);
}

#[test]
fn times_must_be_better_and_possible() {
    let same = tiny(|_| ());
    let answer = judge(same.path(), "faster", Phase::Prefill);
    assert_eq!(answer.judged.verdict, Verdict::Fail);
    assert!(metric(&answer, "time_us") < 0.0);
    // A slow baseline gains nothing: what lowering makes by rule is the other one.
    let folder = tiny(weights_stay);
    let slow = folder.path().join(".pilotfish/baseline/prefill.toml");
    let (naive, _) = ProgramText::parse("naive", &fs::read_to_string(&slow).unwrap());
    let mut program = naive.unwrap().program().clone();
    let honest = metric(&judge(folder.path(), "faster", Phase::Prefill), "time_us");
    let again: Vec<_> =
        program.dispatches.iter().filter(|d| d.scope == Scope::Layer).cloned().collect();
    program.dispatches.splice(1..1, again);
    fs::write(&slow, ProgramText::new(program).text()).unwrap();
    assert_eq!(metric(&judge(folder.path(), "faster", Phase::Prefill), "time_us"), honest);
    // Nothing to compute and nothing to move: below any floor.
    let empty = tiny(|program| {
        program.dispatches.retain(|dispatch| dispatch.scope == Scope::Model);
        program.dispatches.truncate(1);
        if let Some(Work::Host(op)) = program.dispatches.first_mut().map(|d| &mut d.work) {
            op.outputs.clear();
        }
    });
    let answer = judge(empty.path(), "faster", Phase::Prefill);
    assert!(answer.judged.metrics.iter().any(|metric| metric.name == "of_floor"));
}

#[test]
fn a_network_out_of_scope_fails_and_a_strange_request_is_refused() {
    let folder = tiny(weights_stay);
    let root = folder.path();
    fs::create_dir(root.join("moe")).unwrap();
    let config = r#"{"model_type": "mixtral", "hidden_size": 64, "num_local_experts": 8}"#;
    fs::write(root.join("moe/config.json"), config).unwrap();
    fs::write(root.join("pilotfish.toml"), "model = \"moe\"\nseq = 512\n").unwrap();
    let answer = judge(root, "scope", Phase::Reference);
    assert_eq!(answer.judged.verdict, Verdict::Fail);
    assert_eq!(judge(root, "block", Phase::Block).judged.verdict, Verdict::Fail);
    let refused = |request: &str| {
        let mut out = Vec::new();
        worker::serve(request.as_bytes(), &mut out).unwrap();
        let first = out.split(|byte| *byte == b'\n').next().unwrap().to_vec();
        matches!(read(&first).unwrap(), Line::Refused(_))
    };
    assert!(refused("{}") && refused("not json"));
    let root = serde_json::to_string(root).unwrap();
    assert!(refused(&format!(r#"{{"workspace": {root}, "gates": ["nope"], "phase": "block"}}"#)));
    assert!(refused(r#"{"workspace": "/nowhere", "gates": ["block"], "phase": "block"}"#));
    assert!(gates().iter().all(|gate| !gate.claim.is_empty()));
}

#[test]
fn synthetic_weights_pass_with_their_label_only() {
    let folder = tiny(weights_stay);
    let settings = "model = \"tiny-llama\"\nseq = 512\nsynthetic = true\nseed = 3\n";
    fs::write(folder.path().join("pilotfish.toml"), settings).unwrap();
    let answer = judge(folder.path(), "weights", Phase::Reference);
    assert!(answer.judged.headline.starts_with("Pass (synthetic:"), "{}", answer.judged.headline);
    assert!(answer.receipt.provenance.starts_with("synthetic (seed 3"));
}

#[test]
fn a_person_may_move_a_threshold_and_the_receipt_says_so() {
    let folder = tiny(weights_stay);
    let root = folder.path();
    let before = judge(root, "block", Phase::Block);
    let settings = fs::read_to_string(root.join("pilotfish.toml")).unwrap();
    fs::write(root.join("pilotfish.toml"), settings + "\n[gates.block]\ncosine = 0.9999999\n")
        .unwrap();
    let after = judge(root, "block", Phase::Block);
    assert!(before.judged.passed() && !after.judged.passed());
    assert_ne!(before.judged.inputs, after.judged.inputs, "the gate is open again");
    assert!(after.receipt.notes.keys().any(|key| key.starts_with("override")));
}

#[test]
fn the_evaluator_judges_a_workspace_that_has_no_session() {
    let folder = tiny(weights_stay);
    let settings = fs::read_to_string(folder.path().join("pilotfish.toml")).unwrap();
    let allowed = "\n[gates.placement]\nallow-attention = 1\n";
    fs::write(folder.path().join("pilotfish.toml"), settings + allowed).unwrap();
    let evaluation = judge_workspace(folder.path(), None, 7, &Progress::silent()).unwrap();
    assert_eq!(evaluation.verdict, Verdict::Pass, "{:#?}", evaluation.gates);
    let report = fs::read_to_string(folder.path().join("reports/evaluation_report.md")).unwrap();
    assert!(report.contains("evaluator") && report.contains("hidden"), "{report}");
    assert!(Receipts::at(folder.path()).verify().1.is_empty());
    let json = serde_json::to_value(&evaluation).unwrap();
    assert!(json["gates"].as_array().unwrap().len() > 12);
}

/// Minutes of work on the real checkpoint: run by name, with its times printed.
#[test]
#[ignore = "the real checkpoint, some minutes"]
fn the_real_checkpoint_is_judged_in_minutes() {
    let Some(path) = need::weights() else { return };
    let folder = workspace(path.to_str().unwrap(), 512, weights_stay);
    let root = folder.path();
    for phase in Phase::ALL.into_iter().filter(|phase| *phase <= Phase::Prefill) {
        for gate in needs(phase) {
            let answer = judge(root, gate, phase);
            let Answer { judged, duration_ms, .. } = &answer;
            eprintln!(
                "{gate:10} {phase:10} {duration_ms:6} ms {} {}",
                judged.verdict, judged.headline
            );
            for mutant in &judged.mutants {
                eprintln!(
                    "    {:16} {:?} by {} {:+.3}",
                    mutant.id, mutant.killed, mutant.by, mutant.margin
                );
            }
            if !judged.passed() {
                for exhibit in &answer.exhibits {
                    eprintln!("{}", exhibit.content);
                }
                for metric in judged.metrics.iter().filter(|m| m.hard && !m.holds()) {
                    eprintln!("    {} {} {}", metric.name, metric.measured, metric.threshold);
                }
            }
            answer.keep(root).unwrap();
        }
    }
    let began = std::time::Instant::now();
    let evaluation = judge_workspace(root, None, 7, &Progress::silent()).unwrap();
    eprintln!("evaluator {} s {}", began.elapsed().as_secs(), evaluation.verdict);
    for gate in evaluation.gates {
        eprintln!("    {:12} {} {}", gate.id, gate.verdict, gate.headline);
    }
}
