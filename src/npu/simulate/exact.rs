//! What each kernel would give with no rounding inside: f64 all the way, then one store.
//!
//! The harness rounds its reference to the type of the result, to nearest even; so does this.
//! Sums are made in an order that no number of threads changes.

use rayon::prelude::*;

use crate::npu::{Dtype, Kernel};
use crate::tensor::Gemm;
use crate::tensor::round::bf16_rne;

/// Rows of a result that one thread takes at a time.
const ROWS: usize = 64;
/// What norms add to a mean square.
const EPS: f64 = 1e-5;

/// The result of a kernel on inputs in the order of its form. `offset` is the position of the first
/// query of causal attention among its keys.
pub(super) fn exact(kernel: &Kernel, inputs: &[Vec<f32>], offset: usize) -> Vec<f32> {
    let store = match kernel.operands().outputs[0].dtype {
        Dtype::Bf16 => |x: f64| bf16_rne(x as f32),
        Dtype::F32 | Dtype::I32 => |x: f64| x as f32,
    };
    let x = &inputs[0];
    match *kernel {
        Kernel::Gemm { k, n, .. } => product(x, &wide(&inputs[1]), [k, n], store),
        Kernel::Gemv { k, .. } => {
            let dot = |w: &[f32]| -> f64 {
                w.iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum()
            };
            inputs[1].par_chunks(k).map(|w| store(dot(w))).collect()
        }
        Kernel::FlashAttention { keys, heads, kv_heads, head_dim, causal, .. } => {
            let seen = causal.then_some(offset);
            let [k, v] = [1, 2].map(|at| wide(&inputs[at]));
            Attention { k: &k, v: &v, keys, heads, kv_heads, head_dim, seen }.of(x, store)
        }
        Kernel::RmsNorm { width, .. } => {
            let scale = |x: &[f64]| [0.0, 1.0 / (mean(x, |x| x * x) + EPS).sqrt()];
            rows(x, width, scale, |x, at| store(x * f64::from(inputs[1][at])))
        }
        Kernel::LayerNorm { width, .. } => {
            let (weight, bias) = inputs[1].split_at(width);
            let normal = |x: &[f64]| {
                let middle = mean(x, |x| x);
                [middle, 1.0 / (mean(x, |x| (x - middle).powi(2)) + EPS).sqrt()]
            };
            let make = |x: f64, at: usize| store(x * f64::from(weight[at]) + f64::from(bias[at]));
            rows(x, width, normal, make)
        }
        Kernel::BiasAdd { width, .. } => {
            rows(x, width, |_| [0.0, 1.0], |x, at| store(x + f64::from(inputs[1][at])))
        }
        Kernel::Rope { width, .. } => {
            let half = width / 2;
            let turned = |at: usize| {
                let (row, j) = (at / width * width, at % half);
                let value = |values: &[f32], at: usize| f64::from(values[row + at]);
                let (low, high) = (value(x, j), value(x, j + half));
                let (cos, sin) = (value(&inputs[1], j), value(&inputs[1], j + half));
                let first = at % width < half;
                store(if first { low * cos - high * sin } else { low * sin + high * cos })
            };
            (0..x.len()).into_par_iter().map(turned).collect()
        }
        Kernel::SiluMul { .. } => {
            pairs(x, &inputs[1], |gate, up| store(gate / (1.0 + (-gate).exp()) * up))
        }
        Kernel::Add { .. } => pairs(x, &inputs[1], |a, b| store(a + b)),
        Kernel::Gelu { .. } => each(x, |x| {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
            store(0.5 * x * (1.0 + inner.tanh()))
        }),
        // Against the f32 that it reads: to round that first would hide all it does.
        Kernel::Cast { .. } => x.clone(),
    }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.par_iter().map(|x| f64::from(*x)).collect()
}

fn each(x: &[f32], make: impl Fn(f64) -> f32 + Sync) -> Vec<f32> {
    x.par_iter().map(|x| make(f64::from(*x))).collect()
}

fn pairs(a: &[f32], b: &[f32], make: impl Fn(f64, f64) -> f32 + Sync) -> Vec<f32> {
    a.par_iter().zip(b).map(|(a, b)| make(f64::from(*a), f64::from(*b))).collect()
}

/// Rows moved and scaled by what `of` says of each, then whatever is made of value and column.
fn rows(
    x: &[f32],
    width: usize,
    of: impl Fn(&[f64]) -> [f64; 2] + Sync,
    make: impl Fn(f64, usize) -> f32 + Sync,
) -> Vec<f32> {
    let mut out = vec![0.0; x.len()];
    out.par_chunks_mut(width).zip(x.par_chunks(width)).for_each(|(out, x)| {
        let x: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
        let [shift, scale] = of(&x);
        for (at, (y, x)) in out.iter_mut().zip(&x).enumerate() {
            *y = make((x - shift) * scale, at);
        }
    });
    out
}

fn mean(x: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    x.iter().map(|x| of(*x)).sum::<f64>() / x.len() as f64
}

/// `[m, k] · [k, n]`.
fn product(x: &[f32], w: &[f64], [k, n]: [usize; 2], store: fn(f64) -> f32) -> Vec<f32> {
    let mut out = vec![0.0; x.len() / k * n];
    out.par_chunks_mut(ROWS * n).zip(x.par_chunks(ROWS * k)).for_each(|(out, x)| {
        let x: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
        let mut sums = vec![0.0; out.len()];
        let (x, m) = ((&x[..], k, 1), out.len() / n);
        Gemm { m, n, k, x, w: (w, n, 1), out_stride: n, scale: 1.0 }.serial(&mut sums);
        out.iter_mut().zip(&sums).for_each(|(y, sum)| *y = store(*sum));
    });
    out
}

/// Softmax attention over sequence-first operands.
struct Attention<'a> {
    k: &'a [f64],
    v: &'a [f64],
    keys: usize,
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
    /// Position of the first query, where a query sees no later key.
    seen: Option<usize>,
}

impl Attention<'_> {
    fn of(&self, q: &[f32], store: fn(f64) -> f32) -> Vec<f32> {
        let mut out = vec![0.0; q.len()];
        let (width, own) = (self.heads * self.head_dim, self.head_dim);
        out.par_chunks_mut(ROWS * width).zip(q.par_chunks(ROWS * width)).enumerate().for_each(
            |(block, (out, q))| {
                for head in 0..self.heads {
                    let mut mixed = vec![0.0; q.len() / self.heads];
                    self.head(q, head, block * ROWS, &mut mixed);
                    for (out, mixed) in out.chunks_exact_mut(width).zip(mixed.chunks_exact(own)) {
                        let out = &mut out[head * own..(head + 1) * own];
                        out.iter_mut().zip(mixed).for_each(|(y, x)| *y = store(*x));
                    }
                }
            },
        );
        out
    }

    /// One head of a block of queries.
    fn head(&self, q: &[f32], head: usize, from: usize, mixed: &mut [f64]) {
        let (own, rows) = (self.head_dim, mixed.len() / self.head_dim);
        let most = |row: usize| {
            self.seen.map_or(self.keys, |first| (first + from + row + 1).min(self.keys))
        };
        let keys = most(rows - 1);
        let stride = self.kv_heads * own;
        let place = head * self.kv_heads / self.heads * own;
        let q: Vec<f64> = q
            .chunks_exact(self.heads * own)
            .flat_map(|q| q[head * own..(head + 1) * own].iter().map(|x| f64::from(*x)))
            .collect();
        // 1. Scores.
        let mut scores = vec![0.0; rows * keys];
        Gemm {
            m: rows,
            n: keys,
            k: own,
            x: (&q, own, 1),
            w: (&self.k[place..], 1, stride),
            out_stride: keys,
            scale: 1.0 / (own as f64).sqrt(),
        }
        .serial(&mut scores);
        // 2. Weights.
        for (row, scores) in scores.chunks_exact_mut(keys).enumerate() {
            let (scores, hidden) = scores.split_at_mut(most(row));
            hidden.fill(0.0);
            let high = scores.iter().copied().fold(f64::MIN, f64::max);
            for score in &mut *scores {
                *score = (*score - high).exp();
            }
            let sum: f64 = scores.iter().sum();
            for score in &mut *scores {
                *score /= sum;
            }
        }
        // 3. Values.
        Gemm {
            m: rows,
            n: own,
            k: keys,
            x: (&scores, keys, 1),
            w: (&self.v[place..], stride, 1),
            out_stride: own,
            scale: 1.0,
        }
        .serial(mixed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_mixes_what_a_query_may_see() {
        // One head of two: the first query sees the first key alone, the second weighs both.
        let kernel = Kernel::FlashAttention {
            queries: 2,
            keys: 2,
            heads: 2,
            kv_heads: 1,
            head_dim: 1,
            causal: true,
        };
        let inputs = [vec![1.0, 0.0, 2.0, 0.0], vec![0.0, 1.0], vec![3.0, 5.0]];
        let weight = 2.0_f64.exp() / (1.0 + 2.0_f64.exp());
        let second = bf16_rne((3.0 + 2.0 * weight) as f32);
        assert_eq!(exact(&kernel, &inputs, 0), [3.0, 3.0, second, 4.0]);
        assert_eq!(exact(&kernel, &inputs, 1)[1], 4.0, "queries later by one see one more");
    }

    #[test]
    fn norms_and_products_of_small_numbers() {
        let norm =
            exact(&Kernel::RmsNorm { rows: 1, width: 2 }, &[vec![3.0, -3.0], vec![1.0, 2.0]], 0);
        assert_eq!(norm, [1.0, -2.0]);
        let packed = vec![1.0, 2.0, 0.5, 0.0];
        let norm = exact(&Kernel::LayerNorm { rows: 1, width: 2 }, &[vec![4.0, 8.0], packed], 0);
        assert_eq!(norm, [-0.5, 2.0]);
        let method = crate::npu::Method::External;
        let (a, w) = (vec![1.0, 2.0, 3.0, 4.0], vec![1.0, 0.0, 2.0, 1.0]);
        let kernel = Kernel::Gemm { m: 2, k: 2, n: 2, method };
        assert_eq!(exact(&kernel, &[a, w], 0), [5.0, 2.0, 11.0, 4.0]);
        let turned =
            exact(&Kernel::Rope { rows: 1, width: 2 }, &[vec![1.0, 2.0], vec![0.0, 1.0]], 0);
        assert_eq!(turned, [-2.0, 1.0]);
    }
}
