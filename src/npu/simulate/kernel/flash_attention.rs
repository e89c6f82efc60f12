//! FlashAttention: scores, weights, maxima, sums and output all carried in bf16.
//!
//! Inputs: `q` `[queries, heads × head_dim]`, `k` and `v` `[keys, kv_heads × head_dim]`, in the
//! layout of their buffers. Output: `attn`, as `q`. Keys go by in chunks of 64, spread over four
//! cascade stages whose results are merged; both products take bfp16 operands.
//! **exp2 is a surrogate**: its mantissa is linear, which fits published errors, not the unit.

use rayon::prelude::*;

use crate::npu::Layout;
use crate::npu::simulate::numerics::{bfp16_rows, exp2_linear};
use crate::tensor::Gemm;
use crate::tensor::round::bf16_rne;

/// Keys of one chunk (`lkp`), and queries that one thread takes at a time (`tile_q`).
const CHUNK: usize = 64;
const STAGES: usize = 4;
const LOWEST: f32 = -3.3895e38;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    pub queries: usize,
    pub keys: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    /// The width that scores are scaled for: less than `head_dim` when heads are padded.
    pub scale_dim: usize,
    pub causal: bool,
    /// Position of the first query among the keys.
    pub offset: usize,
    pub layout: Layout,
}

/// One head's operands on the bfp16 grid.
struct Head {
    k: Vec<f32>,
    /// By chunk: `[head_dim, CHUNK]`, groups along the keys.
    v: Vec<f32>,
}

/// What a cascade stage hands on.
struct Part {
    high: Vec<f32>,
    sum: Vec<f32>,
    out: Vec<f32>,
}

pub(crate) fn flash_attention(q: &[f32], k: &[f32], v: &[f32], at: &Attention) -> Vec<f32> {
    let width = at.head_dim;
    let heads: Vec<Head> =
        (0..at.kv_heads).into_par_iter().map(|head| at.prepare(k, v, head)).collect();
    let blocks = at.queries.div_ceil(CHUNK);
    let made: Vec<Vec<f32>> = (0..at.heads * blocks)
        .into_par_iter()
        .map(|job| {
            let (head, from) = (job / blocks, job % blocks * CHUNK);
            let rows = CHUNK.min(at.queries - from);
            let mut own = gather(q, at.place(head, at.heads, at.queries), from..from + rows, width);
            bfp16_rows(&mut own, width);
            at.block(&own, &heads[head * at.kv_heads / at.heads], at.offset + from)
        })
        .collect();
    let mut out = vec![0.0; at.queries * at.heads * width];
    for (job, rows) in made.iter().enumerate() {
        let (head, from) = (job / blocks, job % blocks * CHUNK);
        let (start, stride) = at.place(head, at.heads, at.queries);
        for (row, values) in rows.chunks_exact(width).enumerate() {
            let to = start + (from + row) * stride;
            out[to..to + width].copy_from_slice(values);
        }
    }
    out
}

/// Rows of one head, side by side.
fn gather(
    x: &[f32],
    place: (usize, usize),
    rows: std::ops::Range<usize>,
    width: usize,
) -> Vec<f32> {
    let mut out = Vec::with_capacity(rows.len() * width);
    for row in rows {
        let from = place.0 + row * place.1;
        out.extend_from_slice(&x[from..from + width]);
    }
    out
}

impl Attention {
    /// Where a head begins, and how far its rows are apart.
    fn place(&self, head: usize, heads: usize, rows: usize) -> (usize, usize) {
        match self.layout {
            Layout::SeqFirst => (head * self.head_dim, heads * self.head_dim),
            Layout::HeadsFirst => (head * rows * self.head_dim, self.head_dim),
        }
    }

    fn prepare(&self, k: &[f32], v: &[f32], head: usize) -> Head {
        let place = self.place(head, self.kv_heads, self.keys);
        let width = self.head_dim;
        let mut own = gather(k, place, 0..self.keys, width);
        bfp16_rows(&mut own, width);
        let mut turned = vec![0.0; self.keys.div_ceil(CHUNK) * CHUNK * width];
        for (chunk, out) in turned.chunks_exact_mut(CHUNK * width).enumerate() {
            for key in 0..CHUNK.min(self.keys - chunk * CHUNK) {
                let from = place.0 + (chunk * CHUNK + key) * place.1;
                for (j, value) in v[from..from + width].iter().enumerate() {
                    out[j * CHUNK + key] = *value;
                }
            }
        }
        bfp16_rows(&mut turned, CHUNK);
        Head { k: own, v: turned }
    }

    /// One block of queries against all keys that it may see. Chunks that are wholly masked are
    /// left out: on the device their weight is 0 by the end of the merge.
    fn block(&self, q: &[f32], head: &Head, position: usize) -> Vec<f32> {
        let rows = q.len() / self.head_dim;
        let factor = bf16_rne(std::f32::consts::LOG2_E / (self.scale_dim as f32).sqrt());
        let chunks = self.keys.div_ceil(CHUNK);
        let seen = if self.causal { (position + rows).div_ceil(CHUNK).min(chunks) } else { chunks };
        let share = chunks.div_ceil(STAGES).max(1);
        let mut merged: Option<Part> = None;
        for stage in 0..STAGES {
            let own = stage * share..((stage + 1) * share).min(seen);
            if own.is_empty() {
                continue;
            }
            let part = self.stage(q, head, position, own, factor);
            merged = Some(match merged {
                Some(before) => merge(&before, &part, self.head_dim, factor),
                None => part,
            });
        }
        let Some(mut part) = merged else {
            return vec![0.0; q.len()];
        };
        for (out, sum) in part.out.chunks_exact_mut(self.head_dim).zip(&part.sum) {
            let inverse = bf16_rne(1.0 / sum);
            for x in out {
                *x = bf16_rne(*x * inverse);
            }
        }
        part.out
    }

    fn stage(
        &self,
        q: &[f32],
        head: &Head,
        position: usize,
        chunks: std::ops::Range<usize>,
        factor: f32,
    ) -> Part {
        let width = self.head_dim;
        let rows = q.len() / width;
        let mut part =
            Part { high: vec![LOWEST; rows], sum: vec![0.0; rows], out: vec![0.0; rows * width] };
        let mut scores = vec![0.0; rows * CHUNK];
        let mut product = vec![0.0; rows * width];
        for chunk in chunks {
            let first = chunk * CHUNK;
            let count = CHUNK.min(self.keys - first);
            let keys = &head.k[first * width..(first + count) * width];
            Gemm {
                m: rows,
                n: count,
                k: width,
                x: (q, width, 1),
                w: (keys, 1, width),
                out_stride: CHUNK,
                scale: 1.0,
            }
            .serial(&mut scores);
            for (row, scores) in scores.chunks_exact_mut(CHUNK).enumerate() {
                let seen =
                    if self.causal { (position + row + 1).saturating_sub(first) } else { count };
                scores[seen.min(count)..].fill(LOWEST);
                let (rescale, sum) = weigh(scores, &mut part.high[row], factor);
                part.sum[row] = bf16_rne(bf16_rne(part.sum[row] * rescale) + sum);
                let out = &mut part.out[row * width..(row + 1) * width];
                for x in out {
                    *x = bf16_rne(*x * rescale);
                }
            }
            bfp16_rows(&mut scores, CHUNK);
            let values = &head.v[chunk * CHUNK * width..(chunk + 1) * CHUNK * width];
            Gemm {
                m: rows,
                n: width,
                k: CHUNK,
                x: (&scores, CHUNK, 1),
                w: (values, 1, CHUNK),
                out_stride: width,
                scale: 1.0,
            }
            .serial(&mut product);
            part.out.iter_mut().zip(&product).for_each(|(x, more)| *x = bf16_rne(*x + more));
        }
        part
    }
}

/// Scores to weights in place; returns what earlier sums are scaled by, and the sum of this chunk.
fn weigh(scores: &mut [f32], high: &mut f32, factor: f32) -> (f32, f32) {
    let before = *high;
    let mut now = before;
    for score in scores.iter_mut() {
        *score = bf16_rne(*score);
        now = if *score > now { *score } else { now };
    }
    let mut lanes = [0.0_f32; 16];
    for part in scores.chunks_exact_mut(16) {
        for (score, lane) in part.iter_mut().zip(&mut lanes) {
            *score = exp2_linear(bf16_rne((*score - now).max(LOWEST)) * factor);
            *lane += *score;
        }
    }
    *high = now;
    let rescale = exp2_linear(bf16_rne((before - now).max(LOWEST)) * factor);
    (rescale, bf16_rne(lanes.iter().sum()))
}

fn merge(a: &Part, b: &Part, width: usize, factor: f32) -> Part {
    let mut merged = Part { high: Vec::new(), sum: Vec::new(), out: Vec::new() };
    for row in 0..a.high.len() {
        let high = a.high[row].max(b.high[row]);
        let weight =
            |part: &Part| exp2_linear(bf16_rne((part.high[row] - high).max(LOWEST)) * factor);
        let (left, right) = (weight(a), weight(b));
        let sum = |x: f32, y: f32| bf16_rne(bf16_rne(x * left) + bf16_rne(y * right));
        let own = row * width..(row + 1) * width;
        merged.high.push(high);
        merged.sum.push(sum(a.sum[row], b.sum[row]));
        merged.out.extend(a.out[own.clone()].iter().zip(&b.out[own]).map(|(x, y)| sum(*x, *y)));
    }
    merged
}
