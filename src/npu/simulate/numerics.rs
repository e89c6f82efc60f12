//! How the array rounds: bfp16 groups, floored stores, and surrogates of its two lookup units.
//!
//! Sources: `numerics.md` of the design samples. The surrogates of tanh and exp2 stand in for
//! units whose tables are not published; they fit published error statistics and nothing more.

use rayon::prelude::*;

use crate::tensor::round::bf16_floor;

/// Values along K that share an exponent in bfp16ebs8.
pub(super) const GROUP: usize = 8;
/// The least magnitude of what memory holds that nobody has written.
pub(super) const GARBAGE: f32 = 8192.0;
/// Values that one thread takes at a time.
pub(super) const SHARE: usize = 1 << 13;

/// Adding and taking away 1.5·2^23 rounds a small f32 to an integer, ties to even.
const TO_INTEGER: f32 = 12_582_912.0;
/// Width of the cells in which the tanh surrogate is constant.
const CELL: f32 = 1.0 / 16.0;
/// From here on tanh is 1 in f32.
const SATURATED: f32 = 10.0;
const CELLS: usize = (2.0 * SATURATED / CELL) as usize;

/// One group as bfp16: mantissas are rounded to nearest even and clipped to 8 bits.
#[inline]
pub(super) fn bfp16_group(group: &mut [f32]) {
    let mut high = 0_u32;
    for x in group.iter() {
        high = high.max(x.to_bits() & 0x7fff_ffff);
    }
    let exponent = (high >> 23) as i32 - 127;
    if exponent < -119 {
        // Too small for a normal scale: such groups are zeros.
        group.fill(0.0);
        return;
    }
    let (scale, unit) = (power_of_two(6 - exponent), power_of_two(exponent - 6));
    for x in group {
        let mantissa = (*x * scale + TO_INTEGER) - TO_INTEGER;
        // A NaN compares false and stays.
        let low = if mantissa < -128.0 { -128.0 } else { mantissa };
        *x = if low > 127.0 { 127.0 } else { low } * unit;
    }
}

/// Rows of `width` as bfp16, groups along the row; a short last group is a group.
pub(super) fn bfp16_rows(values: &mut [f32], width: usize) {
    for row in values.chunks_mut(width) {
        let mut groups = row.chunks_exact_mut(GROUP);
        for group in groups.by_ref() {
            // A slice of known length lets the compiler use vectors.
            let group: &mut [f32; GROUP] = group.try_into().expect("a whole group");
            bfp16_group(group);
        }
        bfp16_group(groups.into_remainder());
    }
}

/// The same on all cores.
pub(super) fn bfp16_rows_parallel(values: &mut [f32], width: usize) {
    let rows = (SHARE / width).max(1);
    values.par_chunks_mut(rows * width).for_each(|part| bfp16_rows(part, width));
}

/// What memory holds that nobody has written: numbers of magnitude 8192 and more, far outside any
/// network's, so that a fault is seen; and finite, so that it spreads as on the device.
pub(super) fn garbage(at: usize) -> f32 {
    let mixed = (at as u32 ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b);
    let mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    let (sign, mantissa) = (mixed & 0x8000_0000, mixed >> 8 & 0x7f);
    f32::from_bits(sign | GARBAGE.to_bits() | mantissa << 16)
}

#[inline]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127).clamp(1, 254) as u32) << 23)
}

/// **Surrogate.** `2^⌊x⌋ · (1 + frac x)` for x ≤ 0, rounded to nearest even bf16.
///
/// The mantissa is linear, so the bits of the result are: `(x + 127) · 128`, once rounded.
#[inline]
pub(super) fn exp2_linear(x: f32) -> f32 {
    const ONE: f32 = 127.0 * 128.0;
    let x = if x < -126.0 { -127.0 } else { x };
    let bits = (x * 128.0 + (ONE + TO_INTEGER)).to_bits() & 0x7fff;
    let normal = if bits < 128 { 0 } else { bits };
    if x.is_nan() { x } else { f32::from_bits(normal << 16) }
}

/// **Surrogate.** tanh at the middle of cells 1/16 wide, stored floored; a table of all cells.
pub(super) struct Tanh(Vec<f32>);

impl Tanh {
    pub(super) fn new() -> Self {
        Self::through(|tanh| tanh)
    }

    /// A table of what a kernel makes of it, where that depends on the cell alone.
    pub(super) fn through(make: impl Fn(f32) -> f32) -> Self {
        let value = |cell: usize| {
            let middle = f64::from((cell as f32 + 0.5) * CELL - SATURATED);
            make(bf16_floor(middle.tanh() as f32))
        };
        Self((0..CELLS).map(value).collect())
    }

    #[inline]
    pub(super) fn at(&self, x: f32) -> f32 {
        let cells = x * (1.0 / CELL);
        let whole = cells as i32;
        let below = whole - i32::from((whole as f32) > cells);
        let cell = below.saturating_add(CELLS as i32 / 2).clamp(0, CELLS as i32 - 1);
        if x.is_nan() { x } else { self.0[cell as usize] }
    }
}

impl Default for Tanh {
    fn default() -> Self {
        Self::new()
    }
}

/// A value as the 16 bits of memory, cut; exact for values on the grid.
#[inline]
pub(super) fn to_bits(x: f32) -> u16 {
    (x.to_bits() >> 16) as u16
}

#[inline]
pub(super) fn from_bits(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tensor::round::bf16_rne;

    /// The same by exact arithmetic on powers of two.
    fn group_reference(group: &[f32]) -> Vec<f64> {
        let high = group.iter().fold(0.0_f64, |high, x| high.max(f64::from(x.abs())));
        let scale = (high.log2().floor() - 6.0).exp2();
        let one = |x: &f32| (f64::from(*x) / scale).round_ties_even().clamp(-128.0, 127.0) * scale;
        if high == 0.0 { vec![0.0; group.len()] } else { group.iter().map(one).collect() }
    }

    proptest! {
        #[test]
        fn a_group_is_rounded_as_exact_arithmetic_says(
            group in proptest::collection::vec(-1e6_f32..1e6, 8), shift in -20_i32..20,
        ) {
            let group: Vec<f32> = group.iter().map(|x| x * (shift as f32).exp2()).collect();
            let mut got = group.clone();
            bfp16_group(&mut got);
            let same = got.iter().zip(group_reference(&group)).all(|(a, b)| f64::from(*a) == b);
            prop_assert!(same, "{group:?} -> {got:?}");
        }

        #[test]
        fn exp2_is_the_linear_mantissa_once_rounded(x in -120.0_f32..0.0) {
            let x = bf16_rne(x);
            let whole = x.floor();
            let exact = whole.exp2() * (1.0 + (x - whole));
            prop_assert_eq!(exp2_linear(x), bf16_rne(exact));
        }
    }

    #[test]
    fn a_group_keeps_integers_and_saturates() {
        let mut group = [127.0, -127.0, 64.0, 1.0, 0.0, -3.0, 100.0, 5.0];
        let before = group;
        bfp16_group(&mut group);
        assert_eq!(group, before);
        let mut group = [255.9, -255.9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        bfp16_group(&mut group);
        assert_eq!(group[..2], [254.0, -256.0]);
        let mut zeros = [0.0; 8];
        bfp16_group(&mut zeros);
        assert_eq!(zeros, [0.0; 8]);
        let mut poisoned = [f32::NAN, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        bfp16_group(&mut poisoned);
        assert!(poisoned[0].is_nan());
    }

    #[test]
    fn the_ends_of_exp2_and_tanh() {
        assert_eq!(exp2_linear(0.0), 1.0);
        assert_eq!(exp2_linear(-1.0), 0.5);
        assert_eq!(exp2_linear(-0.5), 0.75);
        assert_eq!(exp2_linear(-3e38), 0.0);
        assert_eq!(exp2_linear(f32::NEG_INFINITY), 0.0);
        assert!(exp2_linear(f32::NAN).is_nan());
        let tanh = Tanh::new();
        assert_eq!(tanh.at(-50.0), -1.0);
        assert_eq!(tanh.at(50.0), 1.0);
        assert_eq!(tanh.at(0.01), bf16_floor((1.0_f32 / 32.0).tanh()));
        assert_eq!(tanh.at(-1e-30), tanh.at(-0.01));
        assert_eq!(tanh.at(-0.01), bf16_floor((-1.0_f32 / 32.0).tanh()));
    }
}
