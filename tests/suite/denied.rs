//! What is silently wrong on the device: refused by `check`, and reproduced when nobody checks.

use std::fs;

use pilotfish::base::Finding;
use pilotfish::model::Stage;
use pilotfish::npu::{
    Array, Buffer, Dispatch, Dtype, Fill, Kernel, Launch, Layout, Method, Program, Residency,
    Scope, Tile, Work, check, run_kernel, run_unchecked,
};
use pilotfish::tensor::Comparison;
use pilotfish::tensor::round::bf16_rne;
use regex::Regex;

use crate::need;

/// How a wrong result looks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Looks {
    /// A mean error of 0.7 to 1.0 of the magnitude, all of it finite.
    Corrupt,
    /// What is not covered was never written, so that nothing is alike any more.
    Unwritten,
    /// The first call is right, later ones are not.
    Later,
    Nan,
    Zeros,
}

use Looks::{Corrupt, Later, Nan, Unwritten, Zeros};

fn gemm(shape: [usize; 3], method: Method, tile: [usize; 4], herd: [usize; 2]) -> Launch {
    let [m, k, n] = shape;
    launch(Kernel::Gemm { m, k, n, method }, tile, herd)
}

/// Tile `[m, k_l2, k_l1, n]`; operands are named by the kernel's own form.
fn launch(kernel: Kernel, [m, k_l2, k_l1, n]: [usize; 4], herd: [usize; 2]) -> Launch {
    let named = |operands: &[pilotfish::npu::Operand]| {
        operands.iter().map(|operand| format!("{} {}", kernel.name(), operand.name)).collect()
    };
    let operands = kernel.operands();
    let (inputs, outputs) = (named(&operands.inputs), named(&operands.outputs));
    Launch { kernel, inputs, outputs, herd, tile: Tile { m, k_l2, k_l1, n } }
}

/// A program of one dispatch, with a buffer for each operand.
fn program(launches: &[Launch]) -> Program {
    let mut buffers: Vec<Buffer> = Vec::new();
    for launch in launches {
        let operands = launch.kernel.operands();
        let inputs = launch.inputs.iter().zip(&operands.inputs).map(|pair| (pair, true));
        let outputs = launch.outputs.iter().zip(&operands.outputs).map(|pair| (pair, false));
        for ((name, operand), is_input) in inputs.chain(outputs) {
            buffers.retain(|buffer| buffer.name != *name);
            buffers.push(Buffer {
                name: name.clone(),
                shape: vec![1, operand.elements],
                dtype: operand.dtype,
                layout: Layout::SeqFirst,
                residency: Residency::Activation,
                scope: Scope::Layer,
                fill: is_input.then_some(Fill::Zeros),
            });
        }
    }
    let work = Work::Launches(launches.to_vec());
    Program {
        stage: Stage::Prefill,
        model: "none".into(),
        layers: 1,
        seq: 1,
        capacity: 1,
        heads: 1,
        kv_heads: 1,
        head_dim: 1,
        buffers,
        dispatches: vec![Dispatch { name: "it".into(), scope: Scope::Layer, work }],
    }
}

/// Normal enough, and on the grid.
fn inputs(kernel: &Kernel) -> Vec<Vec<f32>> {
    let scale = match *kernel {
        Kernel::Gemm { k, .. } | Kernel::Gemv { k, .. } => 1.0 / (k as f32).sqrt(),
        _ => 1.0,
    };
    let noise = |at: usize, salt: usize| {
        let mixed = (at * 4 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
    };
    let one = |at: usize| {
        let sum: f32 = (0..4).map(|salt| noise(at, salt) as f32 / 16_777_216.0 - 0.5).sum();
        bf16_rne(sum * scale * 1.73)
    };
    let operands = kernel.operands().inputs;
    let each = operands.iter().enumerate();
    each.map(|(nth, of)| (0..of.elements).map(|at| one(at + nth * 7_777_777)).collect()).collect()
}

/// The deny-list of `legality.md` and `kernels.md` §3: a name, the dispatch, which launch of it is
/// meant, the rule, and how the result looks.
#[rustfmt::skip]
fn denied() -> Vec<(&'static str, Vec<Launch>, usize, &'static str, Looks)> {
    use Method::{Drain, FusedCast};
    let mut all = Vec::new();
    // K with few factors of two.
    for (k, k_l2, k_l1) in [
        (720, 240, 48), (720, 360, 40), (720, 720, 48), (720, 720, 80), (1440, 288, 32), (1440, 480, 32),
    ] {
        all.push(("a depth of few twos", vec![gemm([64, k, 64], Drain, [16, k_l2, k_l1, 16], [2, 4])], 0, "gemm-deny", Corrupt));
    }
    for shape in [[256, 320, 320], [256, 960, 960], [256, 320, 960], [256, 960, 320]] {
        all.push(("256 rows with k_l2 160", vec![gemm(shape, Drain, [32, 160, 32, 80], [8, 4])], 0, "gemm-deny", Corrupt));
    }
    for (k_l2, k_l1) in [(160, 64), (64, 64), (320, 64)] {
        all.push(("192 × 320 × 64", vec![gemm([192, 320, 64], Drain, [32, k_l2, k_l1, 16], [6, 4])], 0, "gemm-deny", Corrupt));
    }
    all.push(("tile_n 32 at k 896", vec![gemm([256, 896, 128], Drain, [32, 128, 32, 32], [8, 4])], 0, "gemm-deny", Corrupt));
    // Shapes that do not divide, and short sequences.
    all.push(("n does not divide", vec![gemm([256, 256, 448], Drain, [32, 128, 32, 64], [8, 4])], 0, "gemm-n", Unwritten));
    all.push(("seq below 512 in tiles of 64 × 8", vec![gemm([256, 1024, 128], FusedCast, [64, 256, 32, 32], [8, 4])], 0, "gemm-m", Unwritten));
    all.push(("seq below 512 at k 2560", vec![gemm([256, 2560, 128], FusedCast, [64, 256, 32, 32], [4, 4])], 0, "gemm-rows", Corrupt));
    all.push(("rows of a GEMV do not divide", vec![launch(Kernel::Gemv { k: 256, n: 1000 }, [64, 0, 8, 0], [8, 1])], 0, "gemv-divides", Unwritten));
    all.push(("add of 245760 by 2048", vec![launch(Kernel::Add { elements: 245_760 }, [0, 0, 0, 2048], [8, 1])], 0, "vector-deny", Unwritten));
    // Neighbours.
    all.push(("a lone drain of four rounds", vec![gemm([1024, 256, 128], Drain, [32, 128, 32, 32], [8, 4])], 0, "drain-alone", Later));
    let down = gemm([512, 8960, 128], FusedCast, [64, 256, 32, 32], [8, 4]);
    let add = launch(Kernel::Add { elements: 65_536 }, [0, 0, 0, 2048], [8, 1]);
    all.push(("Down is not first", vec![add.clone(), down], 1, "down-first", Nan));
    // Wrappers and arguments.
    let mut bare = add;
    bare.herd = [0, 0];
    all.push(("a bare herd", vec![bare], 0, "bare-herd", Zeros));
    let mut scratchless = gemm([512, 256, 128], FusedCast, [64, 256, 32, 32], [8, 4]);
    scratchless.outputs.truncate(1);
    all.push(("no f32 scratch", vec![scratchless], 0, "gemm-scratch", Zeros));
    all
}

#[test]
fn every_denied_tiling_is_refused_and_reproduced() {
    let array = Array::xdna2();
    for (name, launches, at, rule, looks) in denied() {
        let kernel = &launches[at].kernel;
        let what = format!("{name}: {kernel:?} {:?}", launches[at].tile);
        // 1. Refused, and for nothing else.
        let findings = check(&program(&launches), &array);
        let errors: Vec<&Finding> = findings.iter().filter(|finding| finding.is_error()).collect();
        assert!(errors.iter().any(|finding| finding.rule == rule), "{what}: {errors:#?}");
        // A herd of nothing divides nothing; 160 and 64 are denied and do not divide besides.
        let only = |finding: &&Finding| finding.rule == rule || finding.rule == "gemm-k";
        assert!(rule == "bare-herd" || errors.iter().all(only), "{what}: {errors:#?}");
        // 2. Reproduced, without an error.
        let values = inputs(kernel);
        let values: Vec<&[f32]> = values.iter().map(Vec::as_slice).collect();
        let honest = run_kernel(kernel, &values).unwrap();
        let runs = [0, 1].map(|past| run_unchecked(&launches, at, &values, past, &array).unwrap());
        let [first, second] = runs.each_ref().map(|run| Comparison::of(&honest, run));
        if looks == Later {
            assert_eq!(first.max_abs, 0.0, "{what}: the first call is right");
        } else {
            assert!(first.max_abs > 0.0 || first.non_finite > 0, "{what}: nothing is wrong");
        }
        let (error, cosine) = (second.mean_rel_l1, second.cosine);
        let as_published = match looks {
            Corrupt => second.non_finite == 0 && (0.7..=1.0).contains(&error),
            Unwritten | Later => second.non_finite == 0 && cosine.abs() < 0.15,
            Nan => second.non_finite == honest.len(),
            Zeros => runs[1].iter().all(|x| *x == 0.0),
        };
        assert!(as_published, "{what}: {looks:?}, yet error {error:.3}, cosine {cosine:.4}");
        eprintln!("{what}: {rule}, error {error:.3}, cosine {cosine:.3}");
    }
}

#[test]
fn a_right_neighbour_or_tiling_makes_the_same_shapes_right() {
    let array = Array::xdna2();
    let drain = || gemm([1024, 256, 128], Method::Drain, [32, 128, 32, 32], [8, 4]);
    let add = launch(Kernel::Add { elements: 131_072 }, [0, 0, 0, 2048], [8, 1]);
    let good = [
        (vec![gemm([64, 720, 80], Method::Drain, [16, 144, 48, 80], [4, 1])], 0),
        (vec![gemm([192, 320, 64], Method::Drain, [32, 320, 32, 16], [6, 4])], 0),
        (vec![launch(Kernel::Add { elements: 245_760 }, [0, 0, 0, 1920], [8, 1])], 0),
        (vec![drain(), add.clone()], 0),
        (vec![gemm([512, 8960, 128], Method::FusedCast, [64, 256, 32, 32], [8, 4]), add], 0),
    ];
    for (launches, at) in good {
        let findings = check(&program(&launches), &array);
        assert!(!findings.iter().any(Finding::is_error), "{findings:#?}");
        let values = inputs(&launches[at].kernel);
        let values: Vec<&[f32]> = values.iter().map(Vec::as_slice).collect();
        let got = run_unchecked(&launches, at, &values, 1, &array).unwrap();
        assert!(got == run_kernel(&launches[at].kernel, &values).unwrap(), "{launches:?}");
    }
}

/// What breaks a rule, the rule, and the words by which compiler, driver or device make it known.
#[rustfmt::skip]
fn broken() -> Vec<(Program, &'static str, &'static str)> {
    use Method::{Drain, FusedCast};
    let one = |launch: Launch| program(&[launch]);
    let attention = |heads, head_dim| {
        let kernel = Kernel::FlashAttention { queries: 256, keys: 256, heads, kv_heads: 1, head_dim, causal: true };
        launch(kernel, [256, 0, 64, 0], [8, 4])
    };
    let add = |elements, n, herd| launch(Kernel::Add { elements }, [0, 0, 0, n], herd);
    let gemv = |k, n, tile| launch(Kernel::Gemv { k, n }, tile, [8, 1]);
    let small = || gemm([512, 256, 128], Drain, [32, 128, 32, 32], [8, 4]);
    let mut bare = add(65_536, 2048, [8, 1]);
    bare.herd = [8, 0];
    let mut scratchless = gemm([512, 256, 128], FusedCast, [64, 256, 32, 32], [8, 4]);
    scratchless.outputs.truncate(1);
    let wide = gemm([512, 2560, 9728], FusedCast, [64, 64, 32, 128], [8, 4]);
    let mut many = one(small());
    many.dispatches = (0..11).map(|at| Dispatch { name: at.to_string(), ..many.dispatches[0].clone() }).collect();
    let mut turned = one(launch(Kernel::Rope { rows: 64, width: 64 }, [0; 4], [8, 1]));
    turned.buffers[0].layout = Layout::HeadsFirst;
    let mut decode = program(&[
        gemv(2560, 2560, [4, 0, 4, 0]), gemv(2560, 512, [8, 0, 8, 0]), gemv(2560, 512, [8, 0, 8, 0]),
        launch(Kernel::SiluMul { elements: 32_768 }, [0, 0, 0, 4096], [8, 1]), gemv(512, 2560, [8, 0, 8, 0]),
    ]);
    decode.stage = Stage::Decode;
    vec![
        (one(gemm([2048, 2048, 4864 + 64], FusedCast, [64, 256, 32, 32], [8, 2])), "alignment", "descriptors may run out"),
        (one(gemv(8960, 2048, [2, 0, 1, 0])), "gemv-k", "aiex.npu.push_queue repeat count exceeds [0:255]"),
        (one(gemv(2048, 49_152, [8, 0, 8, 0])), "gemv-b-reads", "repeat count exceeds [0:255]"),
        (one(gemv(4096, 2560, [8, 0, 4, 0])), "gemv-l2", "L2 capacity"),
        (one(gemv(8192, 2048, [2, 128, 4, 0])), "gemv-l1", "L1 over"),
        (one(gemv(4096, 64, [4, 0, 7, 0])), "gemv-bank", "L1 overflow"),
        (one(gemm([256, 256, 448], Drain, [32, 128, 32, 64], [8, 4])), "gemm-n", "silent wrong data, cosine about 0.02"),
        (one(gemm([256, 256, 128], FusedCast, [64, 128, 32, 32], [8, 4])), "gemm-m", "silent wrong data"),
        (one(gemm([512, 256, 128], Drain, [32, 96, 32, 32], [8, 4])), "gemm-k", "must divide"),
        (one(gemm([512, 2048, 11_008], FusedCast, [64, 256, 32, 32], [8, 4])), "gemm-stride", "aie.dma_bd stride exceeds [1:1048576]"),
        (one(gemm([512, 256, 512], Drain, [64, 128, 32, 128], [8, 4])), "gemm-l1", "L1 over-allocation"),
        (one(gemm([512, 12_288, 960], FusedCast, [64, 512, 32, 240], [8, 4])), "gemm-l2", "L2 capacity"),
        (one(add(65_536, 2048, [8, 4])), "shim-channels", "failed to map to shim dma channels: out of channels"),
        (one(launch(attention(2, 64).kernel, [128, 0, 64, 0], [8, 4])), "fa-tile", "unmeasured"),
        (one(attention(3, 64)), "fa-heads", "odd head count not divisible by heads_per_unroll 2"),
        (one(attention(2, 128)), "fa-head-dim", "ERT_CMD_STATE_TIMEOUT"),
        (one(bare), "bare-herd", "all-zero output"),
        (program(&[small(), gemm([512, 8960, 128], FusedCast, [64, 256, 32, 32], [8, 4])]), "down-first", "NaN"),
        (decode.clone(), "cascade-decode", "wrong numbers or needs >= 5 of 4 rows"),
        (decode, "extern-names", "linker symbol clash, or the wrong kernel"),
        (program(&vec![small(); 10]), "merge-size", "compile > 10 min"),
        (program(&[attention(2, 64), small()]), "fa-alone", "compile > 10 min"),
        (one(add(1 << 24, 64, [8, 1])), "eltwise-bd", "Allocator exhausted available buffer descriptor IDs"),
        (program(&[wide, small()]), "merge-wide", "buffer descriptor pool exhausted"),
        (one(scratchless), "gemm-scratch", "all zeros"),
        (many, "contexts", "CREATE_HWCTX fails (err=-22)"),
        (one(add(65_536, 2048, [9, 1])), "herd", "herd dimension"),
        (turned, "layout", "stride must be 1"),
    ]
}

/// Findings of these are no errors: measured rows contradict the rule, or it speaks of what a
/// program does not have.
const NO_ERRORS: &[&str] = &[
    "alignment",
    "gemv-b-reads",
    "gemv-bank",
    "eltwise-bd",
    "contexts",
    "cascade-decode",
    "extern-names",
];

#[test]
fn findings_speak_the_words_of_compiler_and_driver() {
    let array = Array::xdna2();
    for (program, rule, words) in broken() {
        let findings = check(&program, &array);
        let found = findings.iter().find(|finding| finding.rule == rule);
        let found = found.unwrap_or_else(|| panic!("`{rule}` is silent: {findings:#?}"));
        assert!(found.message.contains(words), "no `{words}` in {found}");
        assert_eq!(found.is_error(), !NO_ERRORS.contains(&rule), "{found}");
        assert!(found.hint.is_some(), "{found}");
    }
}

/// Patterns of real tools that nothing here can say: names of functions inside an object file.
const ELSEWHERE: &[&str] = &["unable to find group idx", "airrt"];

#[test]
fn one_table_of_triggers_serves_simulator_and_toolchain() {
    let Some(path) = need::shared("deployment/triggers.toml") else { return };
    let table: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    let array = Array::xdna2();
    let told: Vec<String> = broken()
        .iter()
        .flat_map(|(program, _, _)| check(program, &array))
        .map(|finding| finding.message)
        .collect();
    let mut matched = 0;
    for trigger in table["trigger"].as_array().unwrap() {
        let of = |key: &str| trigger[key].as_str().unwrap();
        if of("kind") != "stderr" || ELSEWHERE.iter().any(|words| of("pattern").contains(words)) {
            continue;
        }
        let pattern = Regex::new(of("pattern")).unwrap();
        let hit = told.iter().any(|message| pattern.is_match(message));
        assert!(hit, "no finding is what `{}` looks for", of("pattern"));
        matched += 1;
    }
    assert!(matched >= 8, "{matched} patterns");
}

#[test]
fn buffers_of_the_wrong_type_are_no_matter_of_luck() {
    let mut wrong = program(&[gemm([512, 256, 128], Method::Drain, [32, 128, 32, 32], [8, 4])]);
    wrong.buffers[0].dtype = Dtype::F32;
    let findings = check(&wrong, &Array::xdna2());
    assert!(findings.iter().any(|finding| finding.rule == "shape-mismatch"), "{findings:#?}");
}
