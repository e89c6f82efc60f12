//! Kernels of the simulated array against the error statistics published for the device.

use pilotfish::npu::{Kernel, Method, run_kernel};
use pilotfish::tensor::compare::Comparison;
use pilotfish::tensor::round::bf16_rne;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Normal values on the bf16 grid.
struct Normal(ChaCha8Rng);

impl Normal {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn values(&mut self, count: usize, scale: f64) -> Vec<f32> {
        let one = |random: &mut ChaCha8Rng| {
            let (a, b): (f64, f64) = (random.random(), random.random());
            let radius = (-2.0 * (1.0 - a).ln()).sqrt();
            bf16_rne((scale * radius * (std::f64::consts::TAU * b).cos()) as f32)
        };
        (0..count).map(|_| one(&mut self.0)).collect()
    }
}

/// `mean|got − exact| / mean|exact|`, exact values stored to the nearest bf16 unless f32.
fn error(kernel: &Kernel, inputs: &[&[f32]], exact: &[f64], in_f32: bool) -> f64 {
    let got = run_kernel(kernel, inputs).unwrap();
    let stored = |x: &f64| if in_f32 { *x as f32 } else { bf16_rne(*x as f32) };
    let exact: Vec<f32> = exact.iter().map(stored).collect();
    let comparison = Comparison::of(&exact, &got);
    assert_eq!(comparison.non_finite, 0);
    comparison.mean_rel_l1
}

/// Two-sided: to be more accurate than the device is a failure too.
fn within(what: &str, got: f64, published: f64, percent: f64) {
    eprintln!("{what:32} {got:.3e}  published {published:.2e}  ratio {:.3}", got / published);
    let off = 100.0 * (got / published - 1.0).abs();
    assert!(off <= percent, "{what}: {got:.3e}, published {published:.3e}");
}

#[test]
fn products_err_as_the_device_does() {
    // K, then published errors in 1e-3: f32 result, drain, fused cast, direct.
    let rows = [
        (512, [9.3, 9.3, 9.7, 10.0]),
        (1024, [9.5, 9.5, 9.9, 11.0]),
        (2048, [9.3, 9.3, 9.7, 12.8]),
        (4096, [9.4, 9.4, 9.9, 15.2]),
    ];
    let (m, n) = (128, 128);
    for (k, published) in rows {
        let mut normal = Normal::new(k as u64);
        let scale = 1.0 / (k as f64).sqrt();
        let (a, b) = (normal.values(m * k, scale), normal.values(k * n, scale));
        let exact: Vec<f64> = (0..m * n)
            .map(|at| {
                let (i, j) = (at / n, at % n);
                (0..k).map(|p| f64::from(a[i * k + p]) * f64::from(b[p * n + j])).sum()
            })
            .collect();
        let methods = [Method::External, Method::Drain, Method::FusedCast, Method::Direct];
        for (method, published) in methods.into_iter().zip(published) {
            let got = error(
                &Kernel::Gemm { m, k, n, method },
                &[&a, &b],
                &exact,
                method == Method::External,
            );
            let percent = if method == Method::Direct { 8.0 } else { 5.0 };
            within(&format!("gemm {method:?} {k}"), got, published * 1e-3, percent);
        }
        // A GEMV is the rounded exact product but for the order of its sums.
        let (x, w) = (&a[..k], normal.values(64 * k, scale));
        let exact: Vec<f64> = w
            .chunks(k)
            .map(|row| row.iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum())
            .collect();
        let got = error(&Kernel::Gemv { k, n: 64 }, &[x, &w], &exact, false);
        assert!(got < 1e-4, "gemv {k}: {got:e}");
    }
}

#[test]
fn element_wise_kernels_err_as_the_device_does() {
    let mut normal = Normal::new(1);
    let elements = 1 << 17;
    let (a, b) = (normal.values(elements, 1.0), normal.values(elements, 1.0));
    let pairs = |exact: fn(f64, f64) -> f64| -> Vec<f64> {
        a.iter().zip(&b).map(|(a, b)| exact(f64::from(*a), f64::from(*b))).collect()
    };
    let sum = pairs(|a, b| a + b);
    within("add", error(&Kernel::Add { elements }, &[&a, &b], &sum, false), 1.9e-3, 10.0);
    let silu = pairs(|gate, up| gate / (1.0 + (-gate).exp()) * up);
    let got = error(&Kernel::SiluMul { elements }, &[&a, &b], &silu, false);
    within("silu-mul", got, 1.024e-2, 25.0);
    let gelu = pairs(|x, _| {
        0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh())
    });
    let got = error(&Kernel::Gelu { elements }, &[&a], &gelu, false);
    within("gelu", got, 8.41e-3, 25.0);

    let (rows, width) = (256, 512);
    let (x, weight) = (&a[..], &b[..width]);
    let bias = &b[width..2 * width];
    let by_row = |exact: &dyn Fn(&[f64]) -> Vec<f64>| -> Vec<f64> {
        let wide = |row: &[f32]| row.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
        x.chunks(width).flat_map(|row| exact(&wide(row))).collect()
    };
    let normed = by_row(&|row| {
        let mean = row.iter().map(|x| x * x).sum::<f64>() / width as f64;
        let scale = 1.0 / (mean + 1e-5).sqrt();
        row.iter().zip(weight).map(|(x, w)| x * scale * f64::from(*w)).collect()
    });
    let got = error(&Kernel::RmsNorm { rows, width }, &[x, weight], &normed, false);
    within("rms-norm", got, 4.2e-3, 20.0);
    let layered = by_row(&|row| {
        let mean = row.iter().sum::<f64>() / width as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / width as f64;
        let scale = 1.0 / (variance + 1e-5).sqrt();
        let one =
            |((x, w), b): ((&f64, &f32), &f32)| (x - mean) * scale * f64::from(*w) + f64::from(*b);
        row.iter().zip(weight).zip(bias).map(one).collect()
    });
    let got = error(&Kernel::LayerNorm { rows, width }, &[x, &b[..2 * width]], &layered, false);
    within("layer-norm", got, 4.4e-3, 20.0);

    let (rows, width) = (elements / 64, 64);
    let table: Vec<f32> = (0..rows)
        .flat_map(|row| {
            let angle = move |j: usize| row as f64 * 500_000_f64.powf(-(j as f64) / 32.0);
            let cos = (0..32).map(move |j| bf16_rne(angle(j).cos() as f32));
            cos.chain((0..32).map(move |j| bf16_rne(angle(j).sin() as f32)))
        })
        .collect();
    let turned: Vec<f64> = a
        .chunks(width)
        .zip(table.chunks(width))
        .flat_map(|(x, turn)| {
            let at = |j: usize| (f64::from(x[j]), f64::from(turn[j]));
            (0..64).map(move |j| {
                let ((low, cos), (high, sin)) = (at(j % 32), at(j % 32 + 32));
                if j < 32 { low * cos - high * sin } else { low * sin + high * cos }
            })
        })
        .collect();
    let got = error(&Kernel::Rope { rows, width }, &[&a, &table], &turned, false);
    within("rope", got, 2.8e-3, 10.0);
}

#[test]
fn attention_errs_as_the_device_does() {
    // Keys, head width, causal, published.
    let rows = [(512, 64, false, 4.5e-2), (1024, 64, false, 4.8e-2), (2048, 64, true, 3.9e-2)];
    for (keys, head_dim, causal, published) in rows {
        let mut normal = Normal::new(keys as u64);
        let queries = if causal { keys } else { 256 };
        let kernel =
            Kernel::FlashAttention { queries, keys, heads: 1, kv_heads: 1, head_dim, causal };
        let q = normal.values(queries * head_dim, 1.0);
        let [k, v] = [(); 2].map(|()| normal.values(keys * head_dim, 1.0));
        let exact = softmax_attention(&q, &k, &v, head_dim, causal);
        within(
            &format!("attention {keys} × {head_dim}"),
            error(&kernel, &[&q, &k, &v], &exact, false),
            published,
            20.0,
        );
    }
}

fn softmax_attention(q: &[f32], k: &[f32], v: &[f32], width: usize, causal: bool) -> Vec<f64> {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let mut out = Vec::with_capacity(q.len());
    for (row, q) in q.chunks(width).enumerate() {
        let seen = if causal { row + 1 } else { k.len() / width };
        let scores: Vec<f64> =
            k.chunks(width).take(seen).map(|k| dot(q, k) / (width as f64).sqrt()).collect();
        let most = scores.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let mut mixed = vec![0.0; width];
        for (weight, v) in weights.iter().zip(v.chunks(width)) {
            mixed.iter_mut().zip(v).for_each(|(x, v)| *x += weight / sum * f64::from(*v));
        }
        out.extend(mixed);
    }
    out
}
