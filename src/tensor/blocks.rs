//! Turning stored blocks into f32; layouts after GGML (`ggml-common.h`, `ggml-quants.c`).

use half::{bf16, f16};
use rayon::prelude::*;

use crate::tensor::Dtype;

/// Blocks that one thread takes at a time.
const CHUNK: usize = 256;

/// Dequantises all of `bytes`, in parallel.
///
/// # Panics
/// When `bytes` is not what `dtype` needs for `out.len()` values: the reader has checked it.
pub fn dequantise(dtype: Dtype, bytes: &[u8], out: &mut [f32]) {
    assert_eq!(dtype.bytes(out.len()), Some(bytes.len()), "{dtype}: bytes fit the values");
    let (block, size) = (dtype.block(), dtype.block_bytes());
    let chunk = if block == 1 { CHUNK * 64 } else { CHUNK };
    out.par_chunks_mut(block * chunk).zip(bytes.par_chunks(size * chunk)).for_each(
        |(out, bytes)| {
            let blocks = out.chunks_exact_mut(block).zip(bytes.chunks_exact(size));
            match dtype {
                Dtype::F32 => blocks.for_each(|(y, b)| y[0] = f32_at(b)),
                Dtype::F16 => blocks.for_each(|(y, b)| y[0] = f16_at(b)),
                Dtype::BF16 => blocks.for_each(|(y, b)| y[0] = bf16_at(b)),
                Dtype::Q8_0 => blocks.for_each(|(y, b)| q8_0(b, y)),
                Dtype::Q4_0 => blocks.for_each(|(y, b)| q4_0(b, y)),
                Dtype::Q4_1 => blocks.for_each(|(y, b)| q4_1(b, y)),
                Dtype::Q5_0 => blocks.for_each(|(y, b)| q5_0(b, y)),
                Dtype::Q5_1 => blocks.for_each(|(y, b)| q5_1(b, y)),
                Dtype::Q4_K => blocks.for_each(|(y, b)| q4_k(b, y)),
                Dtype::Q5_K => blocks.for_each(|(y, b)| q5_k(b, y)),
                Dtype::Q6_K => blocks.for_each(|(y, b)| q6_k(b, y)),
            }
        },
    );
}

fn f32_at(b: &[u8]) -> f32 {
    f32::from_le_bytes([b[0], b[1], b[2], b[3]])
}

fn f16_at(b: &[u8]) -> f32 {
    f16::from_le_bytes([b[0], b[1]]).to_f32()
}

fn bf16_at(b: &[u8]) -> f32 {
    bf16::from_le_bytes([b[0], b[1]]).to_f32()
}

/// Scale, then 32 signed bytes.
fn q8_0(b: &[u8], y: &mut [f32]) {
    let d = f16_at(b);
    for (y, q) in y.iter_mut().zip(&b[2..]) {
        *y = d * f32::from(q.cast_signed());
    }
}

/// Scale, then 16 bytes: low nibbles are the first 16 values, high nibbles the last; all minus 8.
fn q4_0(b: &[u8], y: &mut [f32]) {
    let d = f16_at(b);
    for (j, q) in b[2..].iter().enumerate() {
        y[j] = d * (f32::from(q & 15) - 8.0);
        y[j + 16] = d * (f32::from(q >> 4) - 8.0);
    }
}

/// Scale and minimum, then nibbles as in `q4_0`.
fn q4_1(b: &[u8], y: &mut [f32]) {
    let (d, m) = (f16_at(b), f16_at(&b[2..]));
    for (j, q) in b[4..].iter().enumerate() {
        y[j] = d * f32::from(q & 15) + m;
        y[j + 16] = d * f32::from(q >> 4) + m;
    }
}

/// The fifth bits of 32 values come as one word.
fn fifth(b: &[u8], j: usize) -> (u8, u8) {
    let high = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    ((((high >> j) & 1) << 4) as u8, (((high >> (j + 16)) & 1) << 4) as u8)
}

/// Scale, fifth bits, nibbles; all minus 16.
fn q5_0(b: &[u8], y: &mut [f32]) {
    let d = f16_at(b);
    for (j, q) in b[6..].iter().enumerate() {
        let (low, high) = fifth(&b[2..], j);
        y[j] = d * (f32::from((q & 15) | low) - 16.0);
        y[j + 16] = d * (f32::from((q >> 4) | high) - 16.0);
    }
}

/// Scale and minimum, fifth bits, nibbles.
fn q5_1(b: &[u8], y: &mut [f32]) {
    let (d, m) = (f16_at(b), f16_at(&b[2..]));
    for (j, q) in b[8..].iter().enumerate() {
        let (low, high) = fifth(&b[4..], j);
        y[j] = d * f32::from((q & 15) | low) + m;
        y[j + 16] = d * f32::from((q >> 4) | high) + m;
    }
}

/// Scale and minimum, six bits each, of sub-block `j` out of eight packed in 12 bytes.
fn scale_min(j: usize, s: &[u8]) -> (f32, f32) {
    let (scale, min) = if j < 4 {
        (s[j] & 63, s[j + 4] & 63)
    } else {
        ((s[j + 4] & 15) | ((s[j - 4] >> 6) << 4), (s[j + 4] >> 4) | ((s[j] >> 6) << 4))
    };
    (f32::from(scale), f32::from(min))
}

/// 256 values in eight sub-blocks: `d`, `dmin`, packed scales, nibbles (64 values in 32 bytes).
fn q4_k(b: &[u8], y: &mut [f32]) {
    let (d, dmin) = (f16_at(b), f16_at(&b[2..]));
    let (scales, q) = (&b[4..16], &b[16..144]);
    for pair in 0..4 {
        for half in 0..2 {
            let (scale, min) = scale_min(2 * pair + half, scales);
            let (d, m) = (d * scale, dmin * min);
            for l in 0..32 {
                let value = (q[32 * pair + l] >> (4 * half)) & 15;
                y[64 * pair + 32 * half + l] = d * f32::from(value) - m;
            }
        }
    }
}

/// As `q4_k`, with the fifth bit of value `l` of sub-block `j` at bit `j` of byte `l`.
fn q5_k(b: &[u8], y: &mut [f32]) {
    let (d, dmin) = (f16_at(b), f16_at(&b[2..]));
    let (scales, high, q) = (&b[4..16], &b[16..48], &b[48..176]);
    for pair in 0..4 {
        for half in 0..2 {
            let j = 2 * pair + half;
            let (scale, min) = scale_min(j, scales);
            let (d, m) = (d * scale, dmin * min);
            for l in 0..32 {
                let value = ((q[32 * pair + l] >> (4 * half)) & 15) | (((high[l] >> j) & 1) << 4);
                y[64 * pair + 32 * half + l] = d * f32::from(value) - m;
            }
        }
    }
}

/// 256 values in two halves: low nibbles, high two bits, 16 signed scales, `d` last; all minus 32.
fn q6_k(b: &[u8], y: &mut [f32]) {
    let d = f16_at(&b[208..]);
    for half in 0..2 {
        let (low, high, scales) = (&b[64 * half..], &b[128 + 32 * half..], &b[192 + 8 * half..]);
        for l in 0..32 {
            for quarter in 0..4 {
                let nibble = (low[l + 32 * (quarter % 2)] >> (4 * (quarter / 2))) & 15;
                let value = nibble | (((high[l] >> (2 * quarter)) & 3) << 4);
                let scale = f32::from(scales[l / 16 + 2 * quarter].cast_signed());
                y[128 * half + 32 * quarter + l] = d * scale * (f32::from(value) - 32.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scale 0.5 and, where there is one, minimum 0.25.
    fn f16(x: f32) -> [u8; 2] {
        half::f16::from_f32(x).to_le_bytes()
    }

    fn run(dtype: Dtype, bytes: &[u8]) -> Vec<f32> {
        let mut out = vec![0.0; dtype.block()];
        dequantise(dtype, bytes, &mut out);
        out
    }

    #[test]
    fn small_blocks() {
        let nibbles: Vec<u8> = (0..16u8).map(|i| i | ((15 - i) << 4)).collect();
        let y = run(Dtype::Q4_0, &[&f16(0.5)[..], &nibbles].concat());
        assert_eq!((y[0], y[15], y[16], y[31]), (-4.0, 3.5, 3.5, -4.0));
        let y = run(Dtype::Q4_1, &[&f16(0.5)[..], &f16(0.25), &nibbles].concat());
        assert_eq!((y[0], y[15], y[16], y[31]), (0.25, 7.75, 7.75, 0.25));
        // Fifth bits of values 0 and 31 only.
        let bits = 0x8000_0001_u32.to_le_bytes();
        let y = run(Dtype::Q5_0, &[&f16(0.5)[..], &bits, &nibbles].concat());
        assert_eq!((y[0], y[1], y[30], y[31]), (0.0, -7.5, -7.5, 0.0));
        let y = run(Dtype::Q5_1, &[&f16(0.5)[..], &f16(0.25), &bits, &nibbles].concat());
        assert_eq!((y[0], y[1], y[30], y[31]), (8.25, 0.75, 0.75, 8.25));
        let bytes: Vec<u8> = (0..32u8).map(|i| i.wrapping_sub(16)).collect();
        let y = run(Dtype::Q8_0, &[&f16(0.5)[..], &bytes].concat());
        assert_eq!((y[0], y[16], y[31]), (-8.0, 0.0, 7.5));
    }

    #[test]
    fn big_blocks() {
        // Scales 1..8 and minima 8..1 of the eight sub-blocks; those below 16 fit the low bits.
        let scales = [1, 2, 3, 4, 8, 7, 6, 5, 5 | 4 << 4, 6 | 3 << 4, 7 | 2 << 4, 8 | 1 << 4];
        let q: Vec<u8> = (0..128).map(|i| (i % 16) as u8 | 0x90).collect();
        let y = run(Dtype::Q4_K, &[&f16(0.5)[..], &f16(0.25), &scales, &q].concat());
        assert_eq!((y[0], y[3], y[32], y[255]), (-2.0, -0.5, 9.0 - 1.75, 36.0 - 0.25));
        let high = [0b1000_0001_u8; 32];
        let y = run(Dtype::Q5_K, &[&f16(0.5)[..], &f16(0.25), &scales, &high, &q].concat());
        assert_eq!((y[0], y[32], y[255]), (8.0 - 2.0, 9.0 - 1.75, 100.0 - 0.25));
        let (low, high) = ([0x21_u8; 128], [0b11_10_01_00_u8; 64]);
        let scales: Vec<u8> = (0..16u8).map(|i| if i == 15 { 0xff } else { i }).collect();
        let y = run(Dtype::Q6_K, &[&low[..], &high, &scales, &f16(0.5)].concat());
        // Values are 1, 17, 34, 50 in the four quarters.
        assert_eq!((y[0], y[16], y[32]), (0.0, -15.5, -15.0));
        assert_eq!((y[64], y[96], y[255]), (4.0, 54.0, -9.0));
    }
}
