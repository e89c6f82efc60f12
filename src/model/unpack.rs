//! A second reading of stored numbers, one value at a time, for the reference alone.

use half::{bf16, f16};

use crate::tensor::Dtype;

/// Value `index` of a tensor, in f64. Layouts after GGML's `ggml-common.h`, written down anew: a
/// mistake in the reading of blocks must not be shared by the oracle and by what judges it.
pub(in crate::model) fn value(dtype: Dtype, bytes: &[u8], index: usize) -> f64 {
    let (block, at) = (index / dtype.block(), index % dtype.block());
    let b = &bytes[block * dtype.block_bytes()..][..dtype.block_bytes()];
    let scale = |from: usize| f16::from_le_bytes([b[from], b[from + 1]]).to_f64();
    // Of 32 values in 16 bytes: the first 16 are low nibbles, the others high ones.
    let nibble = |from: usize| f64::from((b[from + at % 16] >> (at / 16 * 4)) & 15);
    let fifth = |from: usize| f64::from((b[from + at / 8] >> (at % 8) & 1) << 4);
    match dtype {
        Dtype::F32 => f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
        Dtype::F16 => scale(0),
        Dtype::BF16 => bf16::from_le_bytes([b[0], b[1]]).to_f64(),
        Dtype::Q8_0 => scale(0) * f64::from(b[2 + at].cast_signed()),
        Dtype::Q4_0 => scale(0) * (nibble(2) - 8.0),
        Dtype::Q4_1 => scale(0) * nibble(4) + scale(2),
        Dtype::Q5_0 => scale(0) * (nibble(6) + fifth(2) - 16.0),
        Dtype::Q5_1 => scale(0) * (nibble(8) + fifth(4)) + scale(2),
        Dtype::Q4_K => {
            let (times, less) = sixes(&b[4..16], at / 32);
            scale(0) * times * four(&b[16..], at) - scale(2) * less
        }
        Dtype::Q5_K => {
            let (times, less) = sixes(&b[4..16], at / 32);
            let high = f64::from((b[16 + at % 32] >> (at / 32) & 1) << 4);
            scale(0) * times * (four(&b[48..], at) + high) - scale(2) * less
        }
        Dtype::Q6_K => {
            let (half, quarter, l) = (at / 128, at % 128 / 32, at % 32);
            let low = b[64 * half + 32 * (quarter & 1) + l] >> (4 * (quarter >> 1)) & 15;
            let high = b[128 + 32 * half + l] >> (2 * quarter) & 3;
            let times = f64::from(b[192 + at / 16].cast_signed());
            scale(208) * times * (f64::from(low | high << 4) - 32.0)
        }
    }
}

/// Of 256 values in 128 bytes: each 32 bytes hold 64, low nibbles first.
fn four(q: &[u8], at: usize) -> f64 {
    f64::from(q[at / 64 * 32 + at % 32] >> (at / 32 % 2 * 4) & 15)
}

/// Eight scales and eight minima of six bits in 12 bytes. The first four of each have their bytes to
/// themselves but for two bits, which are the high bits of the last four.
fn sixes(s: &[u8], j: usize) -> (f64, f64) {
    if j < 4 {
        return (f64::from(s[j] & 63), f64::from(s[j + 4] & 63));
    }
    let (low, scale, min) = (s[j + 4], s[j - 4] >> 6, s[j] >> 6);
    (f64::from(low & 15 | scale << 4), f64::from(low >> 4 | min << 4))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tensor::blocks::dequantise;

    proptest! {
        #[test]
        fn both_readings_agree_on_any_bytes(kind in 0..Dtype::ALL.len(), seed: u64) {
            let dtype = Dtype::ALL[kind];
            let mut word = seed;
            let mut bytes: Vec<u8> = (0..2 * dtype.block_bytes()).map(|_| {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (word >> 56) as u8
            }).collect();
            // Plausible scales: everything else may be anything.
            for block in bytes.chunks_exact_mut(dtype.block_bytes()) {
                match dtype {
                    Dtype::F32 => block[3] = 0x3f,
                    Dtype::F16 | Dtype::BF16 => block[1] = 0x3c,
                    Dtype::Q6_K => block[209] = 0x2c,
                    _ => { block[1] = 0x2c; block[3] = 0xac; }
                }
            }
            let mut fast = vec![0.0; 2 * dtype.block()];
            dequantise(dtype, &bytes, &mut fast);
            for (index, fast) in fast.iter().enumerate() {
                let slow = value(dtype, &bytes, index);
                prop_assert!((slow - f64::from(*fast)).abs() <= 1e-5 * slow.abs().max(1.0), "{dtype} {index}: {slow} {fast}");
            }
        }
    }
}
