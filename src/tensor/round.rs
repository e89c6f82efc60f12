//! Rounding f32 to bf16: to nearest even, and down towards minus infinity.

use rayon::prelude::*;

const PARALLEL_FROM: usize = 1 << 15;

/// The nearest bf16, ties to even. A NaN stays a NaN.
pub fn bf16_rne(x: f32) -> f32 {
    let bits = x.to_bits();
    if x.is_nan() {
        return f32::from_bits((bits | 0x0040_0000) & 0xffff_0000);
    }
    let up = 0x7fff + ((bits >> 16) & 1);
    f32::from_bits(bits.wrapping_add(up) & 0xffff_0000)
}

/// The greatest bf16 that is not above `x`: what a store does when no rounding mode is set.
pub fn bf16_floor(x: f32) -> f32 {
    let bits = x.to_bits();
    if x.is_nan() {
        return f32::from_bits((bits | 0x0040_0000) & 0xffff_0000);
    }
    let below = (bits >> 31 == 1 && bits & 0xffff != 0 && x.is_finite()) as u32;
    f32::from_bits((bits & 0xffff_0000).wrapping_add(below << 16))
}

pub fn bf16_rne_all(values: &mut [f32]) {
    apply(values, bf16_rne);
}

pub fn bf16_floor_all(values: &mut [f32]) {
    apply(values, bf16_floor);
}

fn apply(values: &mut [f32], round: fn(f32) -> f32) {
    let each = |part: &mut [f32]| part.iter_mut().for_each(|x| *x = round(*x));
    if values.len() < PARALLEL_FROM {
        each(values);
    } else {
        values.par_chunks_mut(PARALLEL_FROM / 2).for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        let check = |x: f32, rne: f32, floor: f32| {
            assert_eq!(bf16_rne(x), rne, "rne {x}");
            assert_eq!(bf16_floor(x), floor, "floor {x}");
        };
        let step = 1.0 / 128.0;
        check(1.0, 1.0, 1.0);
        check(1.0 + step / 2.0, 1.0, 1.0);
        check(1.0 + step * 1.5, 1.0 + 2.0 * step, 1.0 + step);
        check(-1.0 - step / 4.0, -1.0, -1.0 - step);
        check(0.0, 0.0, 0.0);
        check(f32::INFINITY, f32::INFINITY, f32::INFINITY);
        check(f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY);
        assert!(bf16_rne(f32::NAN).is_nan() && bf16_floor(f32::NAN).is_nan());
    }

    proptest! {
        #[test]
        fn rounding_is_idempotent_and_ordered(bits: u32) {
            let x = f32::from_bits(bits);
            prop_assume!(x.is_finite());
            let (near, below) = (bf16_rne(x), bf16_floor(x));
            prop_assert_eq!(near, half::bf16::from_f32(x).to_f32());
            prop_assert!(below <= x);
            prop_assert_eq!(bf16_rne(near), near);
            if below.is_finite() {
                prop_assert_eq!(bf16_floor(below), below);
            }
        }
    }
}
