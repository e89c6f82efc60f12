//! What goes wrong with buffer objects on the device goes wrong on the simulated one, and is seen.

use std::sync::Arc;

use pilotfish::model::{Logits, Model, Stage};
use pilotfish::npu::{
    Array, Buffer, Fill, Kernel, Launch, Machine, Method, Program, Residency, Scope, SimulateError,
    Work,
};
use pilotfish::tensor::{NoTap, Trace};

use crate::simulate::{bundled, cosine, naive, prompt};

/// A change of the naive programs of tiny-llama, run unchecked on two prompts and two tokens.
struct Outcome {
    first: Trace,
    logits: [Vec<f32>; 2],
    steps: [Vec<f32>; 2],
}

fn run(change: impl Fn(&mut Program)) -> Outcome {
    let model = bundled("tiny-llama");
    let mut programs = naive(&model, 64, 96);
    programs.iter_mut().for_each(change);
    let [prefill, decode] = &programs;
    let array = Array::xdna2();
    let mut machine =
        Machine::unchecked(prefill, Some(decode), Arc::clone(&model), &array).unwrap();
    let mut first = Trace::all();
    let (one, two) = (prompt(&model, 50), prompt(&model, 64));
    let logits = [
        machine.prefill(&two[14..], Logits::Last, &mut first).unwrap().data,
        machine.prefill(&one, Logits::Last, &mut NoTap).unwrap().data,
    ];
    let steps = [7, 8].map(|token| machine.step(token, &mut NoTap).unwrap());
    Outcome { first, logits, steps }
}

fn buffer<'a>(program: &'a mut Program, name: &str) -> &'a mut Buffer {
    program.buffers.iter_mut().find(|buffer| buffer.name == name).unwrap()
}

fn launch<'a>(program: &'a mut Program, dispatch: &str) -> &'a mut Launch {
    let found = program.dispatches.iter_mut().find(|at| at.name == dispatch).unwrap();
    match &mut found.work {
        Work::Launches(launches) => &mut launches[0],
        Work::Host(_) => panic!("{dispatch} is on the host"),
    }
}

fn same(a: &Outcome, b: &Outcome) -> [bool; 4] {
    let [one, two] = [0, 1].map(|at| a.logits[at] == b.logits[at]);
    let [three, four] = [0, 1].map(|at| a.steps[at] == b.steps[at]);
    [one, two, three, four]
}

/// How far a value of the first prompt is from what it should be.
fn likeness(a: &Outcome, b: &Outcome, name: &str) -> f64 {
    cosine(&a.first.get(name).unwrap().data, &b.first.get(name).unwrap().data)
}

#[test]
fn a_buffer_of_the_right_residency_changes_nothing() {
    let honest = run(|_| ());
    let quiet = run(|program| {
        for buffer in &mut program.buffers {
            buffer.residency = match (&buffer.fill, buffer.name.as_str()) {
                (Some(Fill::Weight(_)), _) => Residency::Static,
                (None, "attn_norm" | "ffn_norm" | "gate" | "up" | "silu_mul" | "o" | "down") => {
                    Residency::Intermediate
                }
                (_, _) => buffer.residency,
            };
        }
        // One object for all layers is enough for what each layer makes anew.
        buffer(program, "gate").scope = Scope::Model;
    });
    assert_eq!(same(&honest, &quiet), [true; 4]);
}

#[test]
fn a_shared_static_keeps_the_first_layers_weight() {
    let honest = run(|_| ());
    let shared = run(|program| {
        let weight = buffer(program, "ffn_up.weight");
        weight.residency = Residency::Static;
        weight.scope = Scope::Model;
    });
    assert!(likeness(&honest, &shared, "layers.0.hidden") > 0.999_999);
    let wrong = likeness(&honest, &shared, "layers.1.up");
    assert!(wrong < 0.5, "{wrong}");
}

#[test]
fn a_static_table_is_stale_from_the_second_position_on() {
    let honest = run(|_| ());
    let stale = run(|program| {
        if program.stage == Stage::Decode {
            buffer(program, "rope_table").residency = Residency::Static;
        }
    });
    assert_eq!(same(&honest, &stale), [true, true, true, false]);
}

#[test]
fn what_the_host_reads_of_an_intermediate_was_never_read_back() {
    let honest = run(|_| ());
    let blind = run(|program| {
        if program.stage == Stage::Prefill {
            buffer(program, "v").residency = Residency::Intermediate;
        }
    });
    // The array has it, the host has garbage: far too large, finite, and the same each time.
    assert_eq!(likeness(&honest, &blind, "layers.0.v"), 1.0);
    let attended = &blind.first.get("layers.0.attn").unwrap().data;
    assert!(attended.iter().all(|x| x.is_finite()));
    assert!(attended.iter().any(|x| x.abs() > 100.0));
    assert!(likeness(&honest, &blind, "logits") < 0.9);
    let again = run(|program| {
        if program.stage == Stage::Prefill {
            buffer(program, "v").residency = Residency::Intermediate;
        }
    });
    assert_eq!(same(&blind, &again), [true; 4]);
}

#[test]
fn what_the_host_makes_in_an_intermediate_never_arrives() {
    let honest = run(|_| ());
    let lost = run(|program| {
        if program.stage == Stage::Prefill {
            buffer(program, "attn").residency = Residency::Intermediate;
        }
    });
    assert_eq!(likeness(&honest, &lost, "layers.0.attn"), 1.0);
    assert!(likeness(&honest, &lost, "layers.0.o") < 0.5);
    let unwritten = run(|program| {
        buffer(program, "ffn_gate.weight").residency = Residency::Intermediate;
    });
    assert!(likeness(&honest, &unwritten, "layers.0.gate") < 0.5);
    assert_eq!(likeness(&honest, &unwritten, "layers.0.up"), 1.0);
}

#[test]
fn two_values_in_one_buffer_overwrite_each_other() {
    let honest = run(|_| ());
    let aliased = run(|program| {
        launch(program, "up").outputs[0] = "gate".into();
        launch(program, "silu_mul").inputs = vec!["gate".into(), "gate".into()];
    });
    assert!(likeness(&honest, &aliased, "layers.0.silu_mul") < 0.9);
    // A residual that is carried in a buffer of each layer is not carried at all.
    let dropped = run(|program| buffer(program, "hidden").scope = Scope::Layer);
    assert_eq!(likeness(&honest, &dropped, "layers.0.hidden"), 1.0);
    assert!(likeness(&honest, &dropped, "layers.1.attn_norm") < 0.9);
}

#[test]
fn what_the_compiler_lets_through_is_silently_wrong() {
    let honest = run(|_| ());
    let made = |trace: &Trace| trace.get("layers.0.gate").unwrap().data.clone();
    let zeros = run(|program| {
        if program.stage == Stage::Prefill {
            let launch = launch(program, "gate");
            if let Kernel::Gemm { method, .. } = &mut launch.kernel {
                *method = Method::FusedCast;
            }
            launch.outputs.truncate(1);
        }
    });
    assert!(made(&zeros.first).iter().all(|x| *x == 0.0));
    // 256 columns in steps of 96: the last 64 are whatever the buffer held.
    let ragged = run(|program| {
        if program.stage == Stage::Prefill {
            let launch = launch(program, "gate");
            launch.tile.n = 24;
            launch.herd[1] = 4;
        }
    });
    let (right, wrong) = (made(&honest.first), made(&ragged.first));
    let column = |from: usize, to: usize| {
        let pick =
            |x: &[f32]| x.chunks(256).flat_map(|row| row[from..to].to_vec()).collect::<Vec<f32>>();
        cosine(&pick(&right), &pick(&wrong))
    };
    assert!(column(0, 192) > 0.999_99, "{}", column(0, 192));
    assert!(column(192, 256) < 0.5);
}

#[test]
fn a_program_of_the_wrong_type_reads_other_numbers() {
    let honest = run(|_| ());
    let narrow = run(|program| {
        if program.stage == Stage::Prefill
            && let Kernel::Gemm { method, .. } = &mut launch(program, "up").kernel
        {
            *method = Method::External;
        }
    });
    let likeness = likeness(&honest, &narrow, "layers.0.up");
    // Half of what is read are the low bits of f32 values: any bf16 at all, NaN among them.
    assert!(likeness.is_nan() || likeness < 0.5, "{likeness}");
}

#[test]
fn what_cannot_run_is_refused_with_the_reason() {
    let model: Arc<Model> = bundled("tiny-llama");
    let [prefill, decode] = naive(&model, 64, 66);
    let array = Array::xdna2();
    let open = |prefill: &Program, decode: Option<&Program>| {
        Machine::unchecked(prefill, decode, Arc::clone(&model), &array)
    };
    let refused = |change: &dyn Fn(&mut Program)| {
        let mut prefill = prefill.clone();
        change(&mut prefill);
        match open(&prefill, None) {
            Err(error) => error.findings()[0].to_string(),
            Ok(_) => "runs".to_owned(),
        }
    };
    assert!(refused(&|p| p.layers = 2).contains("it has 2 layers, the model 4"));
    assert!(refused(&|p| p.kv_heads = 0).contains("do not hold"));
    assert!(refused(&|p| p.heads = 1).contains("do not hold"));
    assert!(refused(&|p| p.stage = Stage::Decode).contains("it says that it is of decode"));
    assert!(refused(&|p| launch(p, "up").inputs[0] = "ffn_nrom".into()).contains("`ffn_norm`"));
    assert!(refused(&|p| launch(p, "up").inputs.truncate(1)).contains("lacks operands"));
    assert!(refused(&|p| buffer(p, "gate").shape = vec![0, 4]).contains("cannot be made"));
    assert!(refused(&|p| p.buffers.retain(|b| b.name != "logits")).contains("`logits`"));
    let huge = |p: &mut Program| {
        launch(p, "up").kernel = Kernel::Add { elements: usize::MAX };
    };
    assert!(refused(&huge).contains("size that cannot be"));

    let mut machine = open(&prefill, Some(&decode)).unwrap();
    let mut input = |tokens: &[u32]| match machine.prefill(tokens, Logits::Last, &mut NoTap) {
        Err(SimulateError::Input { message, .. }) => message,
        other => panic!("{other:?}"),
    };
    assert!(
        input(&prompt(&model, 65)).contains("65 tokens do not fit the compiled sequence of 64")
    );
    assert!(input(&[]).contains("no tokens"));
    assert!(input(&[512]).contains("outside the vocabulary"));
    machine.prefill(&prompt(&model, 64), Logits::Last, &mut NoTap).unwrap();
    machine.step(1, &mut NoTap).unwrap();
    machine.step(1, &mut NoTap).unwrap();
    let full = machine.step(1, &mut NoTap).unwrap_err().to_string();
    assert!(full.contains("66 places"), "{full}");
    let mut lone = open(&prefill, None).unwrap();
    lone.prefill(&[1], Logits::Last, &mut NoTap).unwrap();
    assert!(lone.step(1, &mut NoTap).is_err());
    // Legal programs only, unless one asks.
    let mut broken = prefill.clone();
    launch(&mut broken, "up").tile.n = 24;
    let illegal = Machine::new(&broken, None, Arc::clone(&model), &array);
    assert!(matches!(illegal, Err(SimulateError::Illegal { .. })));
}
