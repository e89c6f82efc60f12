//! Every kernel of the programs alone, on the inputs of the published harness.

use std::sync::Arc;

use rayon::prelude::*;

use crate::model::Stage;
use crate::npu::{Kernel, Method, Program, Work};
use crate::pipeline::device::run_kernel;
use crate::pipeline::fault::{Fault, edit, normal};
use crate::pipeline::rounding::{self, Attention, near};
use crate::pipeline::sources::Sources;
use crate::tensor::{matmul, ops};

/// From so many elements on the error's mean is sharp enough for a band with two sides.
const ENOUGH: usize = 30_000;
/// The most draws to get there.
const DRAWS: usize = 64;
/// Depth at which the published absolute tolerance of a product was found. A shallower product of
/// the same harness is larger, and so is its error.
const DEPTH: f64 = 2048.0;

/// One kernel of one shape.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Alone {
    /// Kernel and shape: `gemm 512x576x576 drain`.
    pub name: String,
    pub kernel: Kernel,
    pub expected: Arc<Vec<f32>>,
    pub got: Arc<Vec<f32>>,
    pub emulated: Arc<Vec<f32>>,
    /// Of one row of the output.
    pub width: usize,
    /// Absolute tolerance of each row of the output, or one for all of them.
    pub atol: Vec<f64>,
    pub rtol: f64,
    /// How far the mean error may be from that of the published rounding, as a share of it; none
    /// where a kernel has no error of its own to speak of.
    pub band: Option<f64>,
}

impl Alone {
    pub(in crate::pipeline) fn is_two_sided(&self) -> bool {
        self.band.is_some() && self.expected.len() >= ENOUGH
    }

    /// The error of the element at this place as a share of what it may be.
    pub(in crate::pipeline) fn share(&self, at: usize) -> f64 {
        let error = (f64::from(self.got[at]) - f64::from(self.expected[at])).abs();
        error / self.bound(at).max(f64::MIN_POSITIVE)
    }

    fn bound(&self, at: usize) -> f64 {
        let row = (at / self.width.max(1)).min(self.atol.len().saturating_sub(1));
        let atol = self.atol.get(row).copied().unwrap_or(0.0);
        atol + self.rtol * f64::from(self.expected[at].abs())
    }

    pub(in crate::pipeline) fn faulted(&self, fault: Fault) -> Option<Self> {
        let mut faulted = self.clone();
        match fault {
            Fault::TooExact => {
                self.band?;
                faulted.got = Arc::new(self.expected.iter().map(|x| near(*x)).collect());
            }
            Fault::Truncating => {
                let Kernel::Gemm { m, k, n, .. } = self.kernel else { return None };
                let [a, w] = operands(m, k, n, 0);
                faulted.got = Arc::new(rounding::truncating(&a, &w, k));
            }
            fault => {
                let got: &mut Vec<f32> = Arc::make_mut(&mut faulted.got);
                if !edit(fault, got, self.width, 1) {
                    return None;
                }
            }
        }
        Some(faulted)
    }
}

/// What names a kernel and its shape in `kernels.toml` and in reports.
pub(in crate::pipeline) fn name(kernel: &Kernel) -> String {
    let shape = match *kernel {
        Kernel::Gemm { m, k, n, method } => {
            let method = match method {
                Method::FusedCast => "fused-cast",
                Method::Drain => "drain",
                Method::Direct => "direct",
                Method::External => "external",
            };
            format!("{m}x{k}x{n} {method}")
        }
        Kernel::Gemv { k, n } => format!("{n}x{k}"),
        Kernel::FlashAttention { queries, keys, heads, kv_heads, head_dim, causal } => {
            let mask = if causal { " causal" } else { "" };
            format!("{queries}x{keys} {heads}/{kv_heads} heads of {head_dim}{mask}")
        }
        Kernel::RmsNorm { rows, width }
        | Kernel::LayerNorm { rows, width }
        | Kernel::Rope { rows, width }
        | Kernel::BiasAdd { rows, width } => format!("{rows}x{width}"),
        Kernel::SiluMul { elements }
        | Kernel::Gelu { elements }
        | Kernel::Add { elements }
        | Kernel::Cast { elements } => elements.to_string(),
    };
    format!("{} {shape}", kernel.name())
}

/// The kernels of a program, each shape once.
pub(in crate::pipeline) fn kernels(program: &Program) -> Vec<Kernel> {
    let mut found: Vec<Kernel> = Vec::new();
    for dispatch in &program.dispatches {
        let Work::Launches(launches) = &dispatch.work else { continue };
        for launch in launches {
            if !found.contains(&launch.kernel) {
                found.push(launch.kernel);
            }
        }
    }
    found
}

/// Both programs' kernels, run alone on the target.
pub(in crate::pipeline) fn harness(sources: &Sources) -> Result<Vec<Alone>, String> {
    let mut all = Vec::new();
    for stage in Stage::ALL {
        for kernel in kernels(sources.deployment.program(stage)?) {
            if !all.contains(&kernel) {
                all.push(kernel);
            }
        }
    }
    let seed = 0;
    all.iter()
        .map(|kernel| {
            let name = name(kernel);
            sources.progress.say(&format!("kernel alone: {name}"));
            alone(kernel, name, seed)
                .ok_or_else(|| format!("`{}` has no harness", kernel.name()))?
        })
        .collect()
}

/// What one draw of inputs came to.
struct Draw {
    expected: Vec<f32>,
    emulated: Vec<f32>,
    got: Vec<f32>,
}

fn alone(kernel: &Kernel, name: String, seed: u64) -> Option<Result<Alone, String>> {
    let (mut expected, mut emulated, mut got) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..DRAWS as u64 {
        let draw = match draw(kernel, seed + at)? {
            Ok(draw) => draw,
            Err(why) => return Some(Err(format!("{name}: {why}"))),
        };
        expected.extend(draw.expected);
        emulated.extend(draw.emulated);
        got.extend(draw.got);
        if expected.len() >= ENOUGH {
            break;
        }
    }
    let form = kernel.form();
    let rms = |x: &[f32]| {
        let sum: f64 = x.iter().map(|x| f64::from(*x).powi(2)).sum();
        (sum / x.len().max(1) as f64).sqrt()
    };
    let deeper = |k: usize| (DEPTH / k as f64).sqrt().max(1.0);
    let atol = match *kernel {
        Kernel::Gemm { k, method: Method::Direct, .. } => vec![4e-3 * deeper(k)],
        Kernel::Gemm { k, .. } => vec![form.atol * deeper(k)],
        // A causal mean of `i` values shrinks with the root of `i`: the first rows are larger than
        // the whole, and an honest device is off by as much of their own scale.
        Kernel::FlashAttention { .. } => {
            let whole = rms(&expected);
            expected.chunks(width(kernel)).map(|row| 0.25 * rms(row).max(whole)).collect()
        }
        _ => vec![form.atol],
    };
    let band = match kernel {
        Kernel::Gemm { .. } => Some(0.05),
        Kernel::Add { .. } | Kernel::Rope { .. } | Kernel::BiasAdd { .. } => Some(0.10),
        Kernel::RmsNorm { .. } | Kernel::FlashAttention { .. } => Some(0.20),
        Kernel::SiluMul { .. } => Some(0.25),
        _ => None,
    };
    Some(Ok(Alone {
        name,
        kernel: *kernel,
        width: width(kernel),
        expected: Arc::new(expected),
        emulated: Arc::new(emulated),
        got: Arc::new(got),
        atol,
        rtol: form.rtol,
        band,
    }))
}

fn width(kernel: &Kernel) -> usize {
    match *kernel {
        Kernel::Gemm { n, .. } | Kernel::Gemv { n, .. } => n,
        Kernel::FlashAttention { heads, head_dim, .. } => heads * head_dim,
        Kernel::RmsNorm { width, .. }
        | Kernel::LayerNorm { width, .. }
        | Kernel::Rope { width, .. }
        | Kernel::BiasAdd { width, .. } => width,
        Kernel::SiluMul { elements }
        | Kernel::Gelu { elements }
        | Kernel::Add { elements }
        | Kernel::Cast { elements } => elements,
    }
}

/// Unit normal numbers in bf16.
fn drawn(seed: u64, salt: u64, count: usize, scale: f32) -> Vec<f32> {
    let seed = seed.wrapping_mul(64) + salt + 1;
    (0..count).into_par_iter().map(|at| near(scale * normal(seed, at))).collect()
}

/// Rows of a product's operands, `[m, k]` and `[n, k]`.
fn operands(m: usize, k: usize, n: usize, seed: u64) -> [Vec<f32>; 2] {
    let scale = 1.0 / (k as f32).sqrt();
    [drawn(seed, 0, m * k, scale), drawn(seed, 1, n * k, scale)]
}

fn transposed(rows: &[f32], k: usize) -> Vec<f32> {
    let n = rows.len() / k;
    let mut out = vec![0.0; rows.len()];
    out.par_chunks_mut(n).enumerate().for_each(|(p, out)| {
        out.iter_mut().enumerate().for_each(|(j, x)| *x = rows[j * k + p]);
    });
    out
}

fn draw(kernel: &Kernel, seed: u64) -> Option<Result<Draw, String>> {
    let x = |salt: u64, count: usize| drawn(seed, salt, count, 1.0);
    let (inputs, expected, emulated) = match *kernel {
        Kernel::Gemm { m, k, n, method } => {
            let [a, w] = operands(m, k, n, seed);
            let mut expected = vec![0.0; m * n];
            matmul(&a, &w, &mut expected, m, k);
            let emulated = rounding::gemm(&a, &w, k, method);
            (vec![a, transposed(&w, k)], expected, emulated)
        }
        Kernel::Gemv { k, n } => {
            let [a, w] = operands(1, k, n, seed);
            let dot = |w: &[f32]| -> f64 {
                w.iter().zip(&a).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum()
            };
            let expected = w.par_chunks(k).map(|w| near(dot(w) as f32)).collect();
            let emulated = rounding::gemv(&a, &w, k);
            (vec![a, w], expected, emulated)
        }
        Kernel::FlashAttention { queries, keys, heads, kv_heads, head_dim, causal } => {
            let q = x(0, queries * heads * head_dim);
            let [k, v] = [1, 2].map(|salt| x(salt, keys * kv_heads * head_dim));
            let shape = Attention { heads, kv_heads, head_dim, causal };
            let expected = rounding::attention(&q, &k, &v, shape);
            let emulated = rounding::flash_attention(&q, &k, &v, shape);
            (vec![q, k, v], expected, emulated)
        }
        Kernel::RmsNorm { rows, width } => {
            let (x, w) = (x(0, rows * width), x(1, width));
            let mut expected = vec![0.0; x.len()];
            ops::rms_norm(&x, &w, 1e-5, &mut expected);
            let emulated = rounding::rms_norm(&x, &w, 1e-5);
            (vec![x, w], expected, emulated)
        }
        Kernel::Rope { rows, width } => {
            let x = x(0, rows * width);
            let half = width / 2;
            let angle = |at: usize| {
                let (t, j) = (at / half, at % half);
                t as f64 * 1e4_f64.powf(-2.0 * j as f64 / width as f64)
            };
            let of = |f: fn(f64) -> f64| -> Vec<f32> {
                (0..rows * half).map(|at| near(f(angle(at)) as f32)).collect()
            };
            let (cos, sin) = (of(f64::cos), of(f64::sin));
            let rows_of = cos.chunks(half).zip(sin.chunks(half));
            let table = rows_of.flat_map(|(cos, sin)| cos.iter().chain(sin)).copied().collect();
            let expected = rounding::turned(&x, width, &cos, &sin, half);
            let emulated = rounding::rope(&x, width, &cos, &sin, half);
            (vec![x, table], expected, emulated)
        }
        Kernel::SiluMul { elements } => {
            let (gate, up) = (x(0, elements), x(1, elements));
            let mut expected = gate.clone();
            ops::silu_mul(&mut expected, &up);
            let emulated = rounding::silu_mul(&gate, &up);
            (vec![gate, up], expected, emulated)
        }
        Kernel::Add { elements } => {
            let (a, b) = (x(0, elements), x(1, elements));
            let mut expected = a.clone();
            ops::add(&mut expected, &b);
            let emulated = rounding::add(&a, &b);
            (vec![a, b], expected, emulated)
        }
        Kernel::BiasAdd { rows, width } => {
            let (x, bias) = (x(0, rows * width), x(1, width));
            let mut expected = x.clone();
            ops::add_bias(&mut expected, &bias);
            let emulated = rounding::bias_add(&x, &bias);
            (vec![x, bias], expected, emulated)
        }
        Kernel::Cast { elements } => {
            let x: Vec<f32> = (0..elements).map(|at| normal(seed + 1, at)).collect();
            let emulated = x.iter().map(|x| rounding::below(*x)).collect();
            (vec![x.clone()], x, emulated)
        }
        Kernel::LayerNorm { .. } | Kernel::Gelu { .. } => return None,
    };
    let inputs: Vec<&[f32]> = inputs.iter().map(Vec::as_slice).collect();
    Some(run_kernel(kernel, &inputs).map(|got| Draw { expected, emulated, got }))
}
