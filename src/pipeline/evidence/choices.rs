//! What both sides would say next, step by step, on the words that the oracle chose.

use std::sync::Arc;

use crate::pipeline::fault::{Fault, edit};

/// One step: logits of both sides after the same words.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Step {
    /// How many words came before.
    pub position: usize,
    pub expected: Arc<Vec<f32>>,
    pub got: Arc<Vec<f32>>,
}

/// One prompt, and the oracle's greedy words after it. The target is fed the same words, so up to
/// the first step where it would have chosen another one it decodes freely, and beyond it forced.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Spoken {
    pub name: String,
    pub prompt: Vec<u32>,
    pub steps: Vec<Step>,
    /// How many steps were asked for.
    pub wanted: usize,
    /// Smallest cosine over layers of what both caches hold in the end.
    pub keys: f64,
    pub values: f64,
    /// What the target counted while it ran.
    pub counters: String,
}

/// What comes of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::pipeline) struct Outcome {
    pub position: usize,
    pub expected: u32,
    pub got: u32,
    /// Of each side's first choice among the choices of the other, from 1; none beyond the fifth.
    pub got_rank: Option<usize>,
    pub expected_rank: Option<usize>,
    /// The oracle's probability of its choice, and by how much it leads.
    pub probability: f64,
    pub lead: f64,
    pub non_finite: usize,
}

/// How many of the best choices count as choices.
pub(in crate::pipeline) const CHOICES: usize = 5;

impl Outcome {
    pub(in crate::pipeline) fn is_mutual(&self) -> bool {
        self.got_rank.is_some() && self.expected_rank.is_some()
    }

    /// The oracle is sure, beyond what rounding could turn around.
    pub(in crate::pipeline) fn is_decisive(&self, noise: f64) -> bool {
        self.probability > 0.5 && self.lead > 3.0 * noise
    }
}

impl Step {
    pub(in crate::pipeline) fn outcome(&self) -> Outcome {
        let (expected, got) = (best(&self.expected), best(&self.got));
        let rank = |of: u32, among: &[u32]| among.iter().position(|id| *id == of).map(|at| at + 1);
        let first = |ids: &[u32]| ids.first().copied().unwrap_or(u32::MAX);
        let logit = |at: usize| expected.get(at).map_or(0.0, |id| self.expected[*id as usize]);
        let most = f64::from(logit(0));
        let sum: f64 = self.expected.iter().map(|x| (f64::from(*x) - most).exp()).sum();
        Outcome {
            position: self.position,
            expected: first(&expected),
            got: first(&got),
            got_rank: rank(first(&got), &expected),
            expected_rank: rank(first(&expected), &got),
            probability: 1.0 / sum,
            lead: most - f64::from(logit(1)),
            non_finite: self.got.iter().filter(|x| !x.is_finite()).count(),
        }
    }
}

/// The best choices, largest first; of equals the smaller id.
fn best(logits: &[f32]) -> Vec<u32> {
    let mut best: Vec<u32> = Vec::with_capacity(CHOICES + 1);
    for (id, logit) in logits.iter().enumerate() {
        let beats = |other: &u32| logits[*other as usize] >= *logit || logit.is_nan();
        let at = best.partition_point(beats);
        if at < CHOICES && !logit.is_nan() {
            best.insert(at, id as u32);
            best.truncate(CHOICES);
        }
    }
    best
}

impl Spoken {
    pub(in crate::pipeline) fn outcomes(&self) -> Vec<Outcome> {
        self.steps.iter().map(Step::outcome).collect()
    }

    /// The same prompt from a target with a fault, made by editing what was recorded.
    pub(in crate::pipeline) fn faulted(&self, fault: Fault) -> Option<Self> {
        let mut faulted = self.clone();
        match fault {
            Fault::Empty => faulted.steps.clear(),
            Fault::Short => {
                let half = faulted.steps.len() / 2;
                faulted.steps.truncate(half);
            }
            Fault::Stale => {
                for at in (1..faulted.steps.len()).rev() {
                    faulted.steps[at].got = Arc::clone(&self.steps[at - 1].got);
                }
            }
            Fault::FirstOnly => {
                let first = Arc::clone(&self.steps.first()?.got);
                faulted.steps.iter_mut().for_each(|step| step.got = Arc::clone(&first));
            }
            Fault::ShiftedValues => return None,
            fault => {
                for (at, step) in faulted.steps.iter_mut().enumerate() {
                    let got = Arc::make_mut(&mut step.got);
                    let width = got.len();
                    if !edit(fault, got, width, at as u64) {
                        return None;
                    }
                }
            }
        }
        Some(faulted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(expected: &[f32], got: &[f32]) -> Step {
        Step { position: 4, expected: Arc::new(expected.to_vec()), got: Arc::new(got.to_vec()) }
    }

    #[test]
    fn ranks_are_taken_both_ways_and_ties_go_to_the_smaller_id() {
        let outcome = step(&[1.0, 3.0, 3.0, 0.0], &[1.0, 2.0, 3.0, 0.0]).outcome();
        assert_eq!((outcome.expected, outcome.got), (1, 2));
        assert_eq!((outcome.got_rank, outcome.expected_rank), (Some(2), Some(2)));
        assert_eq!(outcome.lead, 0.0);

        let expected: Vec<f32> = (0..20).map(|i| i as f32).collect();
        let got: Vec<f32> = (0..20).map(|i| -(i as f32)).collect();
        let outcome = step(&expected, &got).outcome();
        assert!(!outcome.is_mutual() && outcome.probability > 0.5);
        assert!(outcome.is_decisive(0.3) && !outcome.is_decisive(0.4));
    }

    #[test]
    fn what_is_not_a_number_is_no_choice() {
        let outcome = step(&[1.0, 0.0], &[f32::NAN, f32::NAN]).outcome();
        assert_eq!((outcome.got, outcome.non_finite), (u32::MAX, 2));
        assert!(!outcome.is_mutual());
    }
}
