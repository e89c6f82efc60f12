//! A gate: a claim about a frozen snapshot that code can judge.

use super::answer::Exhibit;
use super::case::Case;
use super::frozen::Frozen;
use super::gates::gates;
use crate::base::{Finding, Hash, Hasher};
use crate::session::{Metric, Phase};

pub struct Gate {
    pub id: &'static str,
    /// Counted up whenever the gate asks for something else.
    pub version: u32,
    /// The phases that ask for it.
    pub phases: &'static [Phase],
    pub claim: &'static str,
    /// What of the workspace it looks at: files, or folders with all that is in them.
    pub looks_at: &'static [&'static str],
    pub judge: fn(&Case) -> Judgement,
}

impl Gate {
    /// The phase it is judged for when nobody says which.
    pub fn phase(&self) -> Phase {
        self.phases.first().copied().unwrap_or_default()
    }

    /// The hash of those frozen files that it looks at.
    pub(super) fn inputs(&self, frozen: &Frozen) -> Hash {
        let mut hasher = Hasher::new();
        hasher.part(&self.version.to_le_bytes());
        for (name, bytes) in frozen.files() {
            let looked_at = |place: &&str| match place.strip_suffix('/') {
                Some(_) => name.starts_with(*place),
                None => name == *place,
            };
            if self.looks_at.iter().any(looked_at) {
                hasher.part(name.as_bytes()).part(bytes);
            }
        }
        hasher.finish()
    }
}

/// The gate of that name.
pub fn gate(id: &str) -> Option<&'static Gate> {
    gates().iter().find(|gate| gate.id == id)
}

/// What a gate found in a case. The evaluator turns it into a verdict.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// How much was judged. Nothing judged is nothing passed.
    pub cases: usize,
    pub metrics: Vec<Metric>,
    pub headline: String,
    /// Why it cannot be judged at all: a person is needed.
    pub blocked: Option<String>,
    /// Warnings beside a pass, reasons beside a fail.
    pub findings: Vec<Finding>,
    /// What a reader of the receipt must know: kinds of reference, placement, overrides.
    pub notes: Vec<(&'static str, String)>,
    pub exhibits: Vec<Exhibit>,
}

impl Judgement {
    pub fn blocked(why: impl Into<String>) -> Self {
        let why = why.into();
        Self { headline: why.clone(), blocked: Some(why), ..Self::default() }
    }

    /// Something that must not have happened did: not even a number came of it.
    pub fn failed(why: impl Into<String>) -> Self {
        Self { headline: why.into(), ..Self::default() }
    }

    /// The smallest margin of what is judged; not a number if any is not, or if nothing is.
    pub fn margin(&self) -> f64 {
        let hard = self.metrics.iter().filter(|metric| metric.hard);
        let least = hard.map(|metric| metric.margin).reduce(|least, margin| {
            if least.is_nan() || margin.is_nan() { f64::NAN } else { least.min(margin) }
        });
        match least {
            Some(least) if self.cases > 0 => least,
            _ => f64::NAN,
        }
    }

    /// The metric with the smallest margin: what decides.
    pub fn weakest(&self) -> Option<&Metric> {
        let hard = self.metrics.iter().filter(|metric| metric.hard);
        hard.min_by(|a, b| order(a.margin).total_cmp(&order(b.margin)))
    }

    pub fn note(mut self, key: &'static str, text: impl Into<String>) -> Self {
        self.notes.push((key, text.into()));
        self
    }
}

fn order(margin: f64) -> f64 {
    if margin.is_nan() { f64::NEG_INFINITY } else { margin }
}
