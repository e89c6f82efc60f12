//! Choosing the next token: greedily, or by a seeded draw.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::tensor::ops;

/// The id of the largest logit; the smaller id where two are equal. NaN is never chosen.
pub fn greedy(logits: &[f32]) -> u32 {
    let mut best = (0, f32::NEG_INFINITY);
    for (id, &logit) in logits.iter().enumerate() {
        if logit > best.1 {
            best = (id, logit);
        }
    }
    best.0 as u32
}

/// The `count` largest logits, largest first; smaller ids first among equals.
pub fn top(logits: &[f32], count: usize) -> Vec<(u32, f32)> {
    let mut ids: Vec<u32> = (0..logits.len() as u32).collect();
    let order = |a: &u32, b: &u32| {
        logits[*b as usize].total_cmp(&logits[*a as usize]).then_with(|| a.cmp(b))
    };
    let count = count.min(ids.len());
    if count > 0 && count < ids.len() {
        ids.select_nth_unstable_by(count - 1, order);
    }
    ids.truncate(count);
    ids.sort_by(order);
    ids.into_iter().map(|id| (id, logits[id as usize])).collect()
}

/// Draws tokens at a temperature from the `top_k` most likely. Same seed, same tokens.
#[derive(Clone, Debug)]
pub struct Sampler {
    temperature: f32,
    top_k: usize,
    random: ChaCha8Rng,
}

impl Sampler {
    /// A temperature of 0 is greedy; a `top_k` of 0 keeps every token.
    pub fn new(temperature: f32, top_k: usize, seed: u64) -> Self {
        Self { temperature, top_k, random: ChaCha8Rng::seed_from_u64(seed) }
    }

    pub fn next(&mut self, logits: &[f32]) -> u32 {
        if self.temperature <= 0.0 {
            return greedy(logits);
        }
        let keep = if self.top_k == 0 { logits.len() } else { self.top_k };
        let candidates = top(logits, keep);
        let mut odds: Vec<f32> = candidates.iter().map(|(_, x)| x / self.temperature).collect();
        ops::softmax(&mut odds);
        let mut left: f32 = self.random.random();
        for ((id, _), p) in candidates.iter().zip(&odds) {
            left -= p;
            if left < 0.0 {
                return *id;
            }
        }
        candidates.first().map_or(0, |(id, _)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_wins_and_the_first_of_equals() {
        assert_eq!(greedy(&[1.0, 3.0, 3.0, 2.0]), 1);
        assert_eq!(greedy(&[f32::NAN, 1.0]), 1);
        assert_eq!(top(&[1.0, 3.0, 3.0, 2.0], 3), [(1, 3.0), (2, 3.0), (3, 2.0)]);
        assert_eq!(top(&[1.0, 2.0], 9).len(), 2);
    }

    #[test]
    fn a_seed_fixes_the_draw() {
        let logits = [0.0, 1.0, 2.0, 0.5];
        let draw = |seed| {
            let mut sampler = Sampler::new(1.0, 0, seed);
            (0..50).map(|_| sampler.next(&logits)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert!((0..4).all(|id| draw(7).contains(&id)));
        let mut narrow = Sampler::new(1.0, 1, 3);
        assert!((0..20).all(|_| narrow.next(&logits) == 2));
    }
}
