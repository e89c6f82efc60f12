//! What holds of any number, any program and any number of threads.

use std::time::{Duration, Instant};

use pilotfish::model::Stage;
use pilotfish::npu::{
    Array, Buffer, Dtype, Fill, HostKind, HostOp, Kernel, Launch, Layout, Method, Outline, Program,
    Residency, Scope, Trial, Work, check, cost, launch_us, lower, refusal, run_kernel, solo_us,
};
use pilotfish::tensor::round::{bf16_floor, bf16_rne};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::simulate::bundled;

/// What failed once is told by the seed; nothing is written into the tree.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

/// A finite f32 as `mantissa · 2^exponent`, exactly; the mantissa carries the sign.
fn parts(x: f32) -> (i128, i32) {
    let bits = x.to_bits();
    let (exponent, fraction) = ((bits >> 23 & 0xff) as i32, i128::from(bits & 0x7f_ffff));
    let (mantissa, exponent) =
        if exponent == 0 { (fraction, 1) } else { (fraction | 1 << 23, exponent) };
    (if bits >> 31 == 1 { -mantissa } else { mantissa }, exponent - 150)
}

/// The integer nearest to `mantissa / 2^shift`, ties to even.
fn nearest(mantissa: i128, shift: i32) -> i128 {
    if shift > 100 {
        return 0;
    }
    let unit = 1_i128 << shift;
    let (below, rest) = (mantissa.div_euclid(unit), mantissa.rem_euclid(unit));
    match (2 * rest).cmp(&unit) {
        std::cmp::Ordering::Less => below,
        std::cmp::Ordering::Greater => below + 1,
        std::cmp::Ordering::Equal => below + (below & 1),
    }
}

/// Whether `x` is exactly `count · 2^exponent`.
fn is(x: f32, count: i128, exponent: i32) -> bool {
    if !x.is_finite() {
        return false;
    }
    let (mantissa, own) = parts(x);
    let shift = own - exponent;
    if mantissa == 0 || count == 0 {
        return mantissa == count;
    }
    if shift >= 0 { shift < 90 && mantissa << shift == count } else { mantissa == count << -shift }
}

/// bf16 keeps 8 of the 24 bits that f32 has: its unit is 2^16 of f32's, subnormal numbers included.
const KEPT: i32 = 16;

/// Any finite f32, of all sizes alike.
fn finite() -> impl Strategy<Value = f32> {
    any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |x| x.is_finite())
}

/// Eight numbers whose sizes lie within some powers of two of each other, on the bf16 grid or not.
fn group() -> impl Strategy<Value = Vec<f32>> {
    let one = (any::<u32>(), 0_u32..24);
    (prop::collection::vec(one, 8), 30_u32..254).prop_map(|(each, top)| {
        let make = |(bits, below): &(u32, u32)| {
            f32::from_bits(bits & 0x807f_ffff | top.saturating_sub(*below) << 23)
        };
        each.iter().map(make).collect()
    })
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn bf16_is_the_nearest_or_the_next_below(x in finite()) {
        let (mantissa, exponent) = parts(x);
        let near = nearest(mantissa, KEPT);
        let largest = exponent == 254 - 150;
        if largest && near.abs() == 256 {
            prop_assert!(bf16_rne(x).is_infinite() && bf16_rne(x).is_sign_negative() == (x < 0.0));
        } else {
            prop_assert!(is(bf16_rne(x), near, exponent + KEPT), "{x:e} -> {:e}", bf16_rne(x));
        }
        let below = mantissa.div_euclid(1 << KEPT);
        if largest && below == -256 {
            prop_assert_eq!(bf16_floor(x), f32::NEG_INFINITY);
        } else {
            prop_assert!(is(bf16_floor(x), below, exponent + KEPT), "{x:e} -> {:e}", bf16_floor(x));
        }
    }

    /// A GEMM with ones on its diagonal gives its other operand as the array sees it.
    #[test]
    fn a_bfp16_group_is_what_exact_arithmetic_says(group in group()) {
        let ones: Vec<f32> = (0..64).map(|at| f32::from(u8::from(at % 9 == 0))).collect();
        let kernel = Kernel::Gemm { m: 1, k: 8, n: 8, method: Method::External };
        let got = run_kernel(&kernel, &[&group, &ones]).unwrap();
        // The power of two below the largest number, from its highest bit.
        let top = |x: &f32| {
            let (mantissa, exponent) = parts(*x);
            exponent + 127 - mantissa.abs().leading_zeros() as i32
        };
        let largest = group.iter().map(top).max().unwrap();
        for (x, got) in group.iter().zip(&got) {
            let (mantissa, exponent) = parts(*x);
            let count = nearest(mantissa, largest - 6 - exponent).clamp(-128, 127);
            prop_assert!(is(*got, count, largest - 6), "{x:e} -> {got:e} in {group:?}");
        }
    }
}

/// Sizes that people and machines write by mistake.
const SIZES: [usize; 12] =
    [0, 1, 3, 7, 64, 512, 8960, 245_760, 1 << 31, 1 << 40, usize::MAX / 2, usize::MAX];

/// One change of a program; which, where, and to what.
#[derive(Clone, Debug)]
struct Slip {
    kind: usize,
    at: Index,
    also: Index,
    size: usize,
}

fn slip() -> impl Strategy<Value = Slip> {
    (0_usize..20, any::<Index>(), any::<Index>(), prop::sample::select(&SIZES[..]))
        .prop_map(|(kind, at, also, size)| Slip { kind, at, also, size })
}

fn programs() -> Vec<Program> {
    let array = Array::xdna2();
    ["tiny-llama", "tiny-qwen3"]
        .iter()
        .flat_map(|name| {
            let outline = Outline::new(name, &bundled(name).config);
            Stage::ALL.map(|stage| lower(&outline, &array, stage, 64, 96).0)
        })
        .collect()
}

/// All sizes of a kernel, to be written over.
fn sizes(kernel: &mut Kernel) -> Vec<&mut usize> {
    match kernel {
        Kernel::Gemm { m, k, n, .. } => vec![m, k, n],
        Kernel::Gemv { k, n } => vec![k, n],
        Kernel::FlashAttention { queries, keys, heads, kv_heads, head_dim, .. } => {
            vec![queries, keys, heads, kv_heads, head_dim]
        }
        Kernel::RmsNorm { rows, width }
        | Kernel::LayerNorm { rows, width }
        | Kernel::Rope { rows, width }
        | Kernel::BiasAdd { rows, width } => vec![rows, width],
        Kernel::SiluMul { elements }
        | Kernel::Gelu { elements }
        | Kernel::Add { elements }
        | Kernel::Cast { elements } => vec![elements],
    }
}

fn slips(program: &mut Program, slip: &Slip) {
    let Slip { kind, at, also, size } = slip;
    let size = *size;
    if program.dispatches.is_empty() || program.buffers.is_empty() {
        return;
    }
    let names: Vec<String> = program.buffers.iter().map(|buffer| buffer.name.clone()).collect();
    let dispatch = at.index(program.dispatches.len());
    let buffer = at.index(program.buffers.len());
    let other = also.index(program.buffers.len());
    let held: &mut Buffer = &mut program.buffers[buffer];
    match kind {
        // 1. Buffers.
        0 => held.shape = vec![size],
        1 => held.shape = vec![size, size, 2],
        2 => held.shape = Vec::new(),
        3 => {
            held.residency = [Residency::Static, Residency::Intermediate][also.index(2)];
        }
        4 => held.scope = [Scope::Layer, Scope::Model][also.index(2)],
        5 => held.dtype = [Dtype::Bf16, Dtype::F32, Dtype::I32][also.index(3)],
        6 => held.layout = Layout::HeadsFirst,
        7 => {
            let fills = [
                Fill::Weight("attn_q.weight".into()),
                Fill::WeightRows { role: "nobody".into(), first: size },
                Fill::KeyCache,
                Fill::RopeTable,
            ];
            held.fill = Some(fills[also.index(4)].clone());
        }
        8 => held.fill = None,
        9 => held.name.clone_from(&names[other]),
        10 => drop(program.buffers.remove(buffer)),
        // 2. The whole.
        11 => {
            let all = [
                &mut program.layers,
                &mut program.seq,
                &mut program.capacity,
                &mut program.heads,
                &mut program.kv_heads,
                &mut program.head_dim,
            ];
            let nth = also.index(all.len());
            *all.into_iter().nth(nth).unwrap() = size;
        }
        12 => program.stage = Stage::ALL[also.index(2)],
        13 => program.dispatches.swap(dispatch, also.index(names.len()) % (dispatch + 1)),
        14 => {
            let scope = &mut program.dispatches[dispatch].scope;
            *scope = if *scope == Scope::Layer { Scope::Model } else { Scope::Layer };
        }
        15 => {
            let op = [HostKind::Attention, HostKind::LmHead, HostKind::Embed, HostKind::Transpose];
            let inputs = vec![names[other].clone(); also.index(4)];
            let outputs = vec![names[buffer].clone(); at.index(2)];
            program.dispatches[dispatch].work =
                Work::Host(HostOp { op: op[also.index(4)], inputs, outputs });
        }
        // 3. Launches.
        _ => {
            let Work::Launches(launches) = &mut program.dispatches[dispatch].work else { return };
            if launches.is_empty() {
                return;
            }
            let nth = also.index(launches.len());
            let many = launches.len();
            let launch: &mut Launch = &mut launches[nth];
            match (kind, also.index(6)) {
                (16, 0) => launch.herd = [size, 4],
                (16, 1) => launch.herd = [8, size],
                (16, 2) => launch.tile.m = size,
                (16, 3) => launch.tile.k_l2 = size,
                (16, 4) => launch.tile.k_l1 = size,
                (16, _) => launch.tile.n = size,
                (17, _) => {
                    let mut all = sizes(&mut launch.kernel);
                    let nth = at.index(all.len());
                    *all[nth] = size;
                }
                // What is made is read, and what is read is made: in a circle.
                (18, 0) => std::mem::swap(&mut launch.inputs, &mut launch.outputs),
                (18, 1) => launch.inputs.iter_mut().for_each(|name| *name = "nobody".into()),
                (18, 2) => launch.outputs.clone_from(&launch.inputs),
                (18, 3) => launch.inputs.clear(),
                (18, 4) => launch.outputs.clear(),
                (18, _) => launch.inputs.push(names[other].clone()),
                (_, 0) => launches.clear(),
                (_, _) if many < 64 => launches.extend_from_within(..),
                _ => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn no_program_upsets_the_checks_or_the_costs(
        which in any::<Index>(),
        all in prop::collection::vec(slip(), 1..8),
        context in prop::sample::select(&SIZES[..]),
    ) {
        let mut programs = programs();
        let nth = which.index(programs.len());
        let program = &mut programs[nth];
        for slip in &all {
            slips(program, slip);
        }
        let array = Array::xdna2();
        let started = Instant::now();
        for finding in check(program, &array) {
            prop_assert!(!finding.message.is_empty() && !finding.rule.is_empty(), "{finding}");
        }
        let profile = cost(program, &array, context);
        prop_assert!(!profile.total_us().is_nan(), "{:?}", profile.cost);
        for kernel in &profile.kernels {
            prop_assert!(!kernel.total_us().is_nan(), "{}", kernel.kernel);
        }
        for dispatch in &program.dispatches {
            let Work::Launches(launches) = &dispatch.work else { continue };
            for launch in launches {
                let _ = refusal(launch, &array);
                prop_assert!(!solo_us(launch, &array).is_nan(), "{launch:?}");
                prop_assert!(!launch_us(launch, &array).is_nan(), "{launch:?}");
            }
        }
        prop_assert!(started.elapsed() < Duration::from_secs(5), "it hangs");
    }
}

/// A kernel of any kind, small, with sizes that divide nothing in particular.
fn kernel() -> impl Strategy<Value = Kernel> {
    let methods = [Method::External, Method::Drain, Method::FusedCast, Method::Direct];
    let parts = (0_usize..11, 1_usize..200, 1_usize..300, 1_usize..70, any::<bool>());
    (parts, prop::sample::select(methods.to_vec())).prop_map(|((form, a, b, c, causal), method)| {
        let form = Kernel::FORMS[form];
        let sizes = match form.sizes.len() {
            1 => vec![a * b * 8],
            2 => vec![a * 2, (b / 2 + 1) * 2],
            3 => vec![a, b, c],
            _ => vec![a, b, 16 * (c % 5 + 1), 2 * (a % 3 + 1), 2],
        };
        Kernel::of(form, &sizes, method, causal).unwrap()
    })
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn a_kernel_gives_the_same_bits_on_one_thread_and_on_two(kernel in kernel(), seed: u64) {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Trial::new(kernel, seed).run().unwrap().comparison)
        };
        let (one, two) = (run(1), run(2));
        prop_assert_eq!(one.non_finite, 0, "{:?}", kernel);
        prop_assert_eq!(one, two);
    }
}
