//! Seeded faults: what a broken deployment would have produced, made from what this one produced.

use serde::Deserialize;

/// The kinds of fault. A piece of evidence says which of them it can take, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fault {
    /// Nothing was judged at all.
    Empty,
    /// A dispatch that never ran.
    Zeros,
    /// Plausible in size, and nothing else.
    Mean,
    /// A buffer that still holds what came before.
    Stale,
    /// Only the position that hides all others in a norm.
    SinkOnly,
    LastOnly,
    /// Only one of eight parts was computed.
    OnePart,
    Half,
    /// Five percent of what there is, at random.
    Noise,
    /// Not a number, in one place.
    Nan,
    SwappedHeads,
    CausalOff,
    /// The values of the cache, one place off.
    ShiftedValues,
    /// The weights of the layer beside.
    SiblingWeights,
    /// An accumulator that cuts where it should round.
    Truncating,
    /// Better than the device can be: computed elsewhere.
    TooExact,
    /// One off along the vocabulary, or along the steps.
    Shifted,
    /// The first is right, and then the same again and again.
    FirstOnly,
    /// The end came early.
    Short,
    /// The same time as before.
    Equal,
    Slower,
    /// Less than bytes and operations allow.
    BelowFloor,
    /// Compared with something else.
    OtherWorkload,
}

/// A number for a place: the same for the same seed and place, and like no other.
pub(super) fn word(seed: u64, at: u64) -> u32 {
    let mut z = seed ^ at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as u32
}

/// Noise that is the same for the same place, with the spread of a unit normal.
pub(super) fn noise(seed: u64, at: usize) -> f32 {
    let word = |salt: u64| word(seed ^ salt, at as u64);
    // Four uniform numbers added up come close enough to a normal one.
    let sum: f64 =
        [1, 2, 3, 4].map(|salt| f64::from(word(salt)) / f64::from(u32::MAX)).iter().sum();
    ((sum - 2.0) * 3.0_f64.sqrt()) as f32
}

/// A unit normal number with its tails.
pub(super) fn normal(seed: u64, at: usize) -> f32 {
    let unit = |salt: u64| (f64::from(word(seed ^ salt, at as u64)) + 0.5) / 4_294_967_296.0;
    let (radius, turn) = ((-2.0 * unit(1).ln()).sqrt(), std::f64::consts::TAU * unit(2));
    (radius * turn.cos()) as f32
}

/// The fault as an edit of one row-major value whose rows have `width`. Those that need more than
/// the value itself, or change nothing in a value, leave it alone and say so.
pub(super) fn edit(fault: Fault, values: &mut [f32], width: usize, seed: u64) -> bool {
    match fault {
        Fault::Zeros => values.fill(0.0),
        Fault::Mean => {
            let mean =
                values.iter().map(|x| f64::from(*x)).sum::<f64>() / values.len().max(1) as f64;
            values.fill(mean as f32);
        }
        Fault::LastOnly => {
            let last = values.len().saturating_sub(width);
            values[..last].fill(0.0);
        }
        Fault::OnePart => {
            for row in values.chunks_mut(width) {
                let part = row.len().div_ceil(8);
                row[part..].fill(0.0);
            }
        }
        Fault::Half => values.iter_mut().for_each(|x| *x *= 0.5),
        Fault::Noise => {
            for (at, row) in values.chunks_mut(width).enumerate() {
                let size = row.iter().map(|x| x * x).sum::<f32>() / row.len() as f32;
                let size = 0.05 * size.sqrt();
                for (j, x) in row.iter_mut().enumerate() {
                    *x += size * noise(seed, at * width + j);
                }
            }
        }
        Fault::Nan => {
            if let Some(x) = values.last_mut() {
                *x = f32::NAN;
            }
        }
        Fault::Shifted => values.rotate_right(1.min(values.len())),
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_repeatable_and_of_unit_spread() {
        let values: Vec<f64> = (0..20_000).map(|at| f64::from(noise(7, at))).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let spread = values.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (spread - 1.0).abs() < 0.05, "{mean} {spread}");
        assert_eq!(noise(7, 3), noise(7, 3));
        assert_ne!(noise(7, 3), noise(8, 3));
    }
}
