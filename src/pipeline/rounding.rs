//! The device's kernels once more, from the published rounding alone, to judge the simulator by.
//!
//! Nothing here is shared with the simulator. Source of every rule: the error statistics of the
//! kernel registry and the emulation that reproduces them (bf16 products through bfp16 groups of
//! eight, stores that floor unless the kernel sets a rounding mode, tables for tanh and exp2).

use rayon::prelude::*;

use crate::npu::Method;
use crate::tensor::{Gemm, matmul, ops};

/// The least score of FlashAttention: what a masked key gets.
const MASKED: f32 = -3.3895e38;
/// Keys of one step, queries of one tile, and stages of the cascade.
const STEP: usize = 64;
const STAGES: usize = 4;

/// To the nearest bf16, ties to even.
pub(super) fn near(x: f32) -> f32 {
    if !x.is_finite() {
        return x;
    }
    let bits = x.to_bits();
    f32::from_bits((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff_0000)
}

/// To the greatest bf16 not above.
pub(super) fn below(x: f32) -> f32 {
    let cut = f32::from_bits(x.to_bits() & 0xffff_0000);
    if x < 0.0 && cut != x && x.is_finite() {
        return f32::from_bits(cut.to_bits() + 0x1_0000);
    }
    if x.is_nan() { x } else { cut }
}

/// Blocks of eight along a row share the exponent of their largest; mantissas have eight bits.
fn bfp16(values: &mut [f32]) {
    values.par_chunks_mut(4096).for_each(|part| part.chunks_mut(8).for_each(block));
}

fn block(block: &mut [f32]) {
    let most = block.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    if most == 0.0 || !most.is_finite() {
        return;
    }
    let exponent = ((most.to_bits() >> 23) as i32 - 127).max(-120);
    let (up, down) = (power(6 - exponent), power(exponent - 6));
    for x in block {
        *x = (*x * up).round_ties_even().clamp(-128.0, 127.0) * down;
    }
}

fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent.clamp(-126, 127) + 127) << 23).cast_unsigned())
}

/// Rows of `x` against rows of `w`, both of depth `k`, as a GEMM of that method does it.
pub(super) fn gemm(x: &[f32], w: &[f32], k: usize, method: Method) -> Vec<f32> {
    let (m, n) = (x.len() / k, w.len() / k);
    let (mut x, mut w) = (x.to_vec(), w.to_vec());
    bfp16(&mut x);
    bfp16(&mut w);
    let mut out = vec![0.0; m * n];
    match method {
        Method::External => matmul(&x, &w, &mut out, m, k),
        Method::FusedCast => {
            matmul(&x, &w, &mut out, m, k);
            each(&mut out, below);
        }
        Method::Drain => {
            matmul(&x, &w, &mut out, m, k);
            each(&mut out, near);
        }
        Method::Direct => steps(&x, &w, &mut out, (m, n, k), near),
    }
    out
}

/// A GEMM whose bf16 accumulator cuts where it should round.
pub(super) fn truncating(x: &[f32], w: &[f32], k: usize) -> Vec<f32> {
    let (m, n) = (x.len() / k, w.len() / k);
    let (mut x, mut w) = (x.to_vec(), w.to_vec());
    bfp16(&mut x);
    bfp16(&mut w);
    let mut out = vec![0.0; m * n];
    steps(&x, &w, &mut out, (m, n, k), below);
    out
}

/// An accumulator that is itself bf16: rounded after every 32 of depth.
fn steps(
    x: &[f32],
    w: &[f32],
    out: &mut [f32],
    (m, n, k): (usize, usize, usize),
    round: fn(f32) -> f32,
) {
    let rows = out.par_chunks_mut(STEP * n).zip(x.par_chunks(STEP * k));
    rows.for_each(|(out, x)| {
        let m = (x.len() / k).min(m);
        let mut part = vec![0.0; m * n];
        for at in (0..k).step_by(32) {
            let depth = 32.min(k - at);
            let product = Gemm {
                m,
                n,
                k: depth,
                x: (&x[at..], k, 1),
                w: (&w[at..], 1, k),
                out_stride: n,
                scale: 1.0,
            };
            product.serial(&mut part);
            out.iter_mut().zip(&part).for_each(|(sum, part)| *sum = round(*sum + part));
        }
    });
}

/// One row against rows of `w`: bf16 operands, f32 lanes, rounded to nearest.
pub(super) fn gemv(x: &[f32], w: &[f32], k: usize) -> Vec<f32> {
    let mut out = vec![0.0; x.len() / k * (w.len() / k)];
    matmul(x, w, &mut out, x.len() / k, k);
    each(&mut out, near);
    out
}

/// Floored squares, a floored inverse root, two floored products.
pub(super) fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    let width = weight.len();
    let mut out = vec![0.0; x.len()];
    out.par_chunks_mut(width).zip(x.par_chunks(width)).for_each(|(out, x)| {
        let squares: f32 = x.iter().map(|x| below(x * x)).sum();
        let scale = below(1.0 / (squares / width as f32 + eps).sqrt());
        for ((out, x), weight) in out.iter_mut().zip(x).zip(weight) {
            *out = below(below(x * scale) * weight);
        }
    });
    out
}

/// Both products in f32, one floor. Rows of heads of `2 · half`; row `t` turns by `table[t]`.
pub(super) fn rope(x: &[f32], width: usize, cos: &[f32], sin: &[f32], half: usize) -> Vec<f32> {
    turn(x, width, (cos, sin), half, below)
}

/// The rotation without any rounding.
pub(super) fn turned(x: &[f32], width: usize, cos: &[f32], sin: &[f32], half: usize) -> Vec<f32> {
    turn(x, width, (cos, sin), half, |x| x)
}

fn turn(
    x: &[f32],
    width: usize,
    (cos, sin): (&[f32], &[f32]),
    half: usize,
    round: fn(f32) -> f32,
) -> Vec<f32> {
    let mut out = vec![0.0; x.len()];
    let rows = out.par_chunks_mut(width).zip(x.par_chunks(width)).enumerate();
    rows.for_each(|(t, (out, x))| {
        let (cos, sin) = (&cos[t * half..(t + 1) * half], &sin[t * half..(t + 1) * half]);
        for (out, x) in out.chunks_mut(2 * half).zip(x.chunks(2 * half)) {
            for j in 0..half {
                let (a, b) = (x[j], x[j + half]);
                out[j] = round(a * cos[j] - b * sin[j]);
                out[j + half] = round(a * sin[j] + b * cos[j]);
            }
        }
    });
    out
}

/// A chain of floors around `½ (1 + tanh(x / 2))`, whose tanh is a table of cells 1/16 wide.
pub(super) fn silu_mul(gate: &[f32], up: &[f32]) -> Vec<f32> {
    let one = |(gate, up): (&f32, &f32)| {
        let tanh = tanh_cell(below(gate * 0.5));
        below(below(gate * below(0.5 * below(1.0 + tanh))) * up)
    };
    gate.par_iter().zip(up).map(one).collect()
}

/// The surrogate for an undocumented table: the value in the middle of the cell.
fn tanh_cell(x: f32) -> f32 {
    below((((x * 16.0).floor() + 0.5) / 16.0).tanh())
}

pub(super) fn add(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.par_iter().zip(b).map(|(a, b)| below(a + b)).collect()
}

pub(super) fn bias_add(x: &[f32], bias: &[f32]) -> Vec<f32> {
    let width = bias.len();
    x.par_iter().enumerate().map(|(at, x)| below(x + bias[at % width])).collect()
}

/// `2^⌊x⌋ · (1 + frac x)`: the one parameter-free table that reproduces all five measured errors.
fn exp2_line(x: f32) -> f32 {
    if x < -126.0 {
        return 0.0;
    }
    let whole = x.floor();
    power(whole as i32) * (1.0 + (x - whole))
}

/// The heads of an attention, and where each value lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attention {
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    pub causal: bool,
}

/// Scores, maxima, sums and output carried in bf16; both products through bfp16; keys in four
/// stages of a cascade, merged with bf16 rescales. Everything lies token first.
pub(super) fn flash_attention(q: &[f32], k: &[f32], v: &[f32], shape: Attention) -> Vec<f32> {
    let Attention { heads, kv_heads, head_dim: d, .. } = shape;
    let (queries, keys) = (q.len() / (heads * d), k.len() / (kv_heads * d));
    let scale = near(std::f32::consts::LOG2_E / (d as f32).sqrt());
    // 1. Keys by head as rows; values by head as columns, so that groups of eight run along keys.
    let padded = keys.next_multiple_of(8);
    let heads_of: Vec<(Vec<f32>, Vec<f32>)> = (0..kv_heads)
        .into_par_iter()
        .map(|head| {
            let mut by_key = Vec::with_capacity(keys * d);
            let mut by_channel = vec![0.0; d * padded];
            for t in 0..keys {
                let at = (t * kv_heads + head) * d;
                by_key.extend_from_slice(&k[at..at + d]);
                for (j, value) in v[at..at + d].iter().enumerate() {
                    by_channel[j * padded + t] = *value;
                }
            }
            by_key.chunks_mut(8).for_each(block);
            by_channel.chunks_mut(8).for_each(block);
            (by_key, by_channel)
        })
        .collect();
    // 2. One tile of queries of one head at a time.
    let tiles = queries.div_ceil(STEP);
    let made: Vec<Vec<f32>> = (0..heads * tiles)
        .into_par_iter()
        .map(|at| {
            let (head, first) = (at / tiles, at % tiles * STEP);
            let rows = STEP.min(queries - first);
            let mut tile = Vec::with_capacity(rows * d);
            for t in first..first + rows {
                tile.extend_from_slice(&q[(t * heads + head) * d..][..d]);
            }
            tile.chunks_mut(8).for_each(block);
            let (by_key, by_channel) = &heads_of[head / (heads / kv_heads)];
            let offset = shape.causal.then(|| first + keys - queries);
            attend(&tile, by_key, by_channel, (rows, keys, d), offset, scale)
        })
        .collect();
    // 3. Back to token first.
    let mut out = vec![0.0; q.len()];
    for (at, tile) in made.iter().enumerate() {
        let (head, first) = (at / tiles, at % tiles * STEP);
        for (row, values) in tile.chunks(d).enumerate() {
            out[((first + row) * heads + head) * d..][..d].copy_from_slice(values);
        }
    }
    out
}

/// What one stage of the cascade hands on.
struct Part {
    most: Vec<f32>,
    sum: Vec<f32>,
    out: Vec<f32>,
}

fn attend(
    q: &[f32],
    k: &[f32],
    v: &[f32],
    (rows, keys, d): (usize, usize, usize),
    offset: Option<usize>,
    scale: f32,
) -> Vec<f32> {
    let chunks = keys.div_ceil(STEP);
    let exp = |x: f32| near(exp2_line(x.max(MASKED) * scale));
    let mut whole: Option<Part> = None;
    for stage in 0..STAGES {
        let (from, to) = (stage * chunks / STAGES, (stage + 1) * chunks / STAGES);
        let seen = |chunk: &usize| offset.is_none_or(|offset| chunk * STEP < offset + rows);
        let mut part: Option<Part> = None;
        for chunk in (from..to).filter(seen) {
            let part = part.get_or_insert_with(|| Part {
                most: vec![MASKED; rows],
                sum: vec![0.0; rows],
                out: vec![0.0; rows * d],
            });
            step(part, q, k, v, (rows, keys, d), chunk, offset, &exp);
        }
        whole = match (whole, part) {
            (Some(a), Some(b)) => Some(merge(a, &b, d, &exp)),
            (a, b) => a.or(b),
        };
    }
    let Some(Part { sum, mut out, .. }) = whole else { return vec![0.0; rows * d] };
    for (row, sum) in out.chunks_mut(d).zip(sum) {
        let inverse = near(1.0 / sum);
        for x in row {
            *x = near(*x * inverse);
        }
    }
    out
}

#[expect(clippy::too_many_arguments, reason = "one step of the published loop, operand by operand")]
fn step(
    part: &mut Part,
    q: &[f32],
    k: &[f32],
    v: &[f32],
    (rows, keys, d): (usize, usize, usize),
    chunk: usize,
    offset: Option<usize>,
    exp: &impl Fn(f32) -> f32,
) {
    let first = chunk * STEP;
    let columns = STEP.min(keys - first);
    let padded = keys.next_multiple_of(8);
    let mut scores = vec![0.0; rows * columns];
    let keys = &k[first * d..(first + columns) * d];
    product(q, (d, 1), keys, (1, d), (rows, columns, d)).serial(&mut scores);
    for (row, scores) in scores.chunks_mut(columns).enumerate() {
        let visible = offset.map_or(columns, |offset| (offset + row + 1).saturating_sub(first));
        for (column, score) in scores.iter_mut().enumerate() {
            *score = if column < visible { near(*score) } else { MASKED };
        }
        let most = scores.iter().copied().fold(part.most[row], f32::max);
        let rescale = exp(near((part.most[row] - most).max(MASKED)));
        let mut sum = 0.0;
        for score in scores.iter_mut() {
            *score = exp(near((*score - most).max(MASKED)));
            sum += *score;
        }
        part.out[row * d..(row + 1) * d].iter_mut().for_each(|x| *x = near(*x * rescale));
        part.sum[row] = near(near(part.sum[row] * rescale) + near(sum));
        part.most[row] = most;
        scores.chunks_mut(8).for_each(block);
    }
    let mut made = vec![0.0; rows * d];
    product(&scores, (columns, 1), &v[first..], (1, padded), (rows, d, columns)).serial(&mut made);
    part.out.iter_mut().zip(&made).for_each(|(sum, made)| *sum = near(*sum + made));
}

fn product<'a>(
    x: &'a [f32],
    x_strides: (usize, usize),
    w: &'a [f32],
    w_strides: (usize, usize),
    (m, n, k): (usize, usize, usize),
) -> Gemm<'a> {
    let (x, w) = ((x, x_strides.0, x_strides.1), (w, w_strides.0, w_strides.1));
    Gemm { m, n, k, x, w, out_stride: n, scale: 1.0 }
}

fn merge(mut a: Part, b: &Part, d: usize, exp: &impl Fn(f32) -> f32) -> Part {
    for row in 0..a.most.len() {
        let most = a.most[row].max(b.most[row]);
        let (ra, rb) = (exp(near(a.most[row] - most)), exp(near(b.most[row] - most)));
        for j in row * d..(row + 1) * d {
            a.out[j] = near(near(a.out[j] * ra) + near(b.out[j] * rb));
        }
        a.sum[row] = near(near(a.sum[row] * ra) + near(b.sum[row] * rb));
        a.most[row] = most;
    }
    a
}

/// Softmax attention in f32: what FlashAttention is compared with, and what a host does.
pub(super) fn attention(q: &[f32], k: &[f32], v: &[f32], shape: Attention) -> Vec<f32> {
    let Attention { heads, kv_heads, head_dim: d, causal } = shape;
    let (width, kv_width) = (heads * d, kv_heads * d);
    let (queries, keys) = (q.len() / width, k.len() / kv_width);
    let by_head: Vec<Vec<f32>> = (0..heads)
        .into_par_iter()
        .map(|head| {
            let at = head / (heads / kv_heads) * d;
            let mut scores = vec![0.0; queries * keys];
            let product = Gemm {
                m: queries,
                n: keys,
                k: d,
                x: (&q[head * d..], width, 1),
                w: (&k[at..], 1, kv_width),
                out_stride: keys,
                scale: 1.0 / (d as f32).sqrt(),
            };
            product.serial(&mut scores);
            for (t, row) in scores.chunks_mut(keys).enumerate() {
                let seen = if causal { (t + 1 + keys - queries).min(keys) } else { keys };
                ops::softmax(&mut row[..seen]);
                row[seen..].fill(0.0);
            }
            let mut out = vec![0.0; queries * d];
            let product = Gemm {
                m: queries,
                n: d,
                k: keys,
                x: (&scores, keys, 1),
                w: (&v[at..], kv_width, 1),
                out_stride: d,
                scale: 1.0,
            };
            product.serial(&mut out);
            out
        })
        .collect();
    let mut out = vec![0.0; q.len()];
    for (head, made) in by_head.iter().enumerate() {
        for (t, row) in made.chunks(d).enumerate() {
            out[t * width + head * d..][..d].copy_from_slice(row);
        }
    }
    out
}

fn each(values: &mut [f32], round: fn(f32) -> f32) {
    values.par_iter_mut().with_min_len(4096).for_each(|x| *x = round(*x));
}
