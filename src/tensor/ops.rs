//! The row operators of a decoder in f32: norm, softmax, SiLU, addition.

use rayon::prelude::*;

/// Rows are shared out between threads from this many values on.
const PARALLEL_FROM: usize = 1 << 14;

/// `x · w / √(mean x² + eps)` for each row of `weight.len()`; the mean is taken in f64.
pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let width = weight.len();
    each_row(x, out, width, |x, out| {
        let scale = inverse_rms(x, eps);
        for ((y, x), w) in out.iter_mut().zip(x).zip(weight) {
            *y = x * scale * w;
        }
    });
}

/// The same in place: QK-norm takes each head as a row.
pub fn rms_norm_in_place(x: &mut [f32], weight: &[f32], eps: f32) {
    each_row_mut(x, weight.len(), |row, _| {
        let scale = inverse_rms(row, eps);
        for (x, w) in row.iter_mut().zip(weight) {
            *x = *x * scale * w;
        }
    });
}

fn inverse_rms(row: &[f32], eps: f32) -> f32 {
    let mut lanes = [0.0_f64; 8];
    let chunks = row.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += f64::from(*x) * f64::from(*x);
        }
    }
    let mean = (lanes.iter().sum::<f64>() + rest) / row.len() as f64;
    (1.0 / (mean + f64::from(eps)).sqrt()) as f32
}

/// Softmax of one row, in place; the largest value is taken off first.
pub fn softmax(row: &mut [f32]) {
    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut lanes = [0.0_f32; 8];
    let mut chunks = row.chunks_exact_mut(8);
    for chunk in &mut chunks {
        for (x, lane) in chunk.iter_mut().zip(&mut lanes) {
            *x = exp(*x - most);
            *lane += *x;
        }
    }
    let mut sum: f32 = lanes.iter().sum();
    for x in chunks.into_remainder() {
        *x = exp(*x - most);
        sum += *x;
    }
    let scale = 1.0 / sum;
    for x in row {
        *x *= scale;
    }
}

/// `x · sigmoid(x)`.
pub fn silu(x: f32) -> f32 {
    x / (1.0 + exp(-x))
}

/// `gate = silu(gate) · up`.
pub fn silu_mul(gate: &mut [f32], up: &[f32]) {
    pairs(gate, up, |gate, up| *gate = silu(*gate) * up);
}

/// `to += from`.
pub fn add(to: &mut [f32], from: &[f32]) {
    pairs(to, from, |to, from| *to += from);
}

/// Adds the same bias to each row.
pub fn add_bias(to: &mut [f32], bias: &[f32]) {
    each_row_mut(to, bias.len(), |row, _| {
        row.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
    });
}

/// `eˣ` within 2 ulp, written so that a compiler can do several at once.
///
/// `x = n·ln 2 + r` with `|r| ≤ ½ ln 2`, a polynomial of degree 6 for `eʳ` (its remainder is below
/// 2⁻²⁷), and `2ⁿ` put together from bits.
pub fn exp(x: f32) -> f32 {
    const SHIFT: f32 = 12_582_912.0; // 1.5 · 2²³: adding it rounds to an integer
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.3, 88.7);
    let n = (x * std::f32::consts::LOG2_E + SHIFT) - SHIFT;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let tail = 1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0)));
    let power = 1.0 + (r + r * r * (0.5 + r * tail));
    // Two halves, because 2¹²⁸ alone is not a float.
    let half = (n as i32) >> 1;
    let two = |n: i32| f32::from_bits(((n + 127) << 23).cast_unsigned());
    power * two(half) * two(n as i32 - half)
}

/// Calls `each` with every row of `x` and of `out`.
pub fn each_row(
    x: &[f32],
    out: &mut [f32],
    width: usize,
    each: impl Fn(&[f32], &mut [f32]) + Sync,
) {
    if x.len() < PARALLEL_FROM {
        x.chunks_exact(width).zip(out.chunks_exact_mut(width)).for_each(|(x, out)| each(x, out));
    } else {
        let rows = x.par_chunks_exact(width).zip(out.par_chunks_exact_mut(width));
        rows.with_min_len(8).for_each(|(x, out)| each(x, out));
    }
}

/// Calls `each` with every row and its index.
pub fn each_row_mut(x: &mut [f32], width: usize, each: impl Fn(&mut [f32], usize) + Sync + Send) {
    if x.len() < PARALLEL_FROM {
        x.chunks_exact_mut(width).enumerate().for_each(|(index, row)| each(row, index));
    } else {
        let rows = x.par_chunks_exact_mut(width).enumerate().with_min_len(8);
        rows.for_each(|(index, row)| each(row, index));
    }
}

fn pairs(to: &mut [f32], from: &[f32], each: impl Fn(&mut f32, f32) + Sync) {
    let part = |(to, from): (&mut [f32], &[f32])| {
        to.iter_mut().zip(from).for_each(|(to, from)| each(to, *from));
    };
    if to.len() < PARALLEL_FROM {
        part((to, from));
    } else {
        let chunk = PARALLEL_FROM / 4;
        to.par_chunks_mut(chunk).zip(from.par_chunks(chunk)).for_each(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_within_two_ulp() {
        let mut worst = 0.0_f64;
        for i in -8_700..8_800 {
            let x = i as f32 / 100.0 + 0.003;
            let exact = f64::from(x).exp();
            worst = worst.max((f64::from(exp(x)) - exact).abs() / exact);
        }
        assert!(worst < 2.4e-7, "{worst:e}");
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-1000.0) < 1e-37 && exp(88.0).is_finite());
    }

    #[test]
    fn softmax_sums_to_one_and_ignores_a_shift() {
        let mut row: Vec<f32> = (0..37).map(|i| i as f32 / 3.0).collect();
        let mut shifted: Vec<f32> = row.iter().map(|x| x + 100.0).collect();
        softmax(&mut row);
        softmax(&mut shifted);
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(row.iter().zip(&shifted).all(|(a, b)| (a - b).abs() < 1e-5));
    }

    #[test]
    fn a_normed_row_has_unit_mean_square() {
        let x: Vec<f32> = (0..100).map(|i| i as f32 - 40.0).collect();
        let mut out = vec![0.0; 100];
        rms_norm(&x, &[1.0; 100], 0.0, &mut out);
        let mean: f32 = out.iter().map(|x| x * x).sum::<f32>() / 100.0;
        assert!((mean - 1.0).abs() < 1e-6);
        let mut again = x;
        rms_norm_in_place(&mut again, &[1.0; 100], 0.0);
        assert_eq!(again, out);
        assert!((silu(1.0) - 0.731_058_6).abs() < 1e-6 && silu(-90.0).abs() < 1e-30);
    }
}
