//! GEMV: `[n, k] · [k]` of bf16 operands, exact products in f32, stored to nearest even.
//!
//! Inputs: `W` `[n, k]`, `x` `[k]`. Output: `y` `[n]`. 64 lanes add up in f32 and are summed at
//! the end; nothing is lost but the last rounding.

use rayon::prelude::*;

use crate::npu::simulate::numerics::from_bits;
use crate::tensor::round::bf16_rne;

/// Lanes that the device has; two passes of half of them give the same sums.
const LANES: usize = 64;
const HALF: usize = LANES / 2;
/// Rows that one thread takes at a time.
const ROWS: usize = 64;
const SERIAL_BELOW: usize = 1 << 16;

/// `weights` as 16-bit memory, one row an output.
pub(crate) fn gemv(weights: &[u16], x: &[f32]) -> Vec<f32> {
    let k = x.len();
    let mut out = vec![0.0; weights.len() / k];
    let rows = |(out, weights): (&mut [f32], &[u16])| {
        for (y, row) in out.iter_mut().zip(weights.chunks_exact(k)) {
            *y = bf16_rne(dot(row, x));
        }
    };
    if weights.len() < SERIAL_BELOW {
        rows((&mut out, weights));
    } else {
        out.par_chunks_mut(ROWS).zip(weights.par_chunks(ROWS * k)).for_each(rows);
    }
    out
}

fn dot(weights: &[u16], x: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let (even, odd) = lanes.split_at_mut(HALF);
    for (offset, sums) in [(0, even), (HALF, odd)] {
        let mut kept = [0.0_f32; HALF];
        let parts = weights.chunks_exact(LANES).zip(x.chunks_exact(LANES));
        for (w, x) in parts {
            let (w, x) = (&w[offset..offset + HALF], &x[offset..offset + HALF]);
            for lane in 0..HALF {
                kept[lane] += from_bits(w[lane]) * x[lane];
            }
        }
        sums.copy_from_slice(&kept);
    }
    let whole = x.len() / LANES * LANES;
    for (lane, (w, x)) in weights[whole..].iter().zip(&x[whole..]).enumerate() {
        lanes[lane] += from_bits(*w) * x;
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npu::simulate::numerics::to_bits;

    #[test]
    fn it_is_the_rounded_exact_product() {
        for k in [1, 64, 96, 200] {
            let w: Vec<f32> = (0..3 * k).map(|i| ((i * 7) % 9) as f32 * 0.25 - 1.0).collect();
            let x: Vec<f32> = (0..k).map(|i| ((i * 5) % 11) as f32 * 0.5 - 2.0).collect();
            let bits: Vec<u16> = w.iter().map(|x| to_bits(*x)).collect();
            let exact = |row: usize| -> f32 { (0..k).map(|p| w[row * k + p] * x[p]).sum() };
            let expected: Vec<f32> = (0..3).map(|row| bf16_rne(exact(row))).collect();
            assert_eq!(gemv(&bits, &x), expected, "{k}");
        }
    }
}
