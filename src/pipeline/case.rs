//! What a gate may look at: one frozen deployment and what was measured on it, never a mind.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::cache::Cache;
use super::device::FINGERPRINT;
use super::evidence::{self, Activations, Alone, Spoken, Times};
use super::frozen::Frozen;
use super::metric::Bound;
use super::prompts::Prompt;
use super::sources::Sources;
use crate::base::{Hash, Hasher, Progress};
use crate::model::Stage;
use crate::npu::CALIBRATION_ERROR_PCT;
use crate::session::Phase;

/// Above so many weights only few tokens are decoded before the last gates.
const LARGE: usize = 2_000_000_000;

/// Evidence is made when the first gate asks for it, and shared by all that follow. A case with a
/// fault differs in the evidence of one gate.
#[derive(Clone)]
pub struct Case {
    sources: Arc<Sources>,
    found: Arc<Found>,
    phase: Phase,
    seed: u64,
    altered: Option<Altered>,
}

/// Prompts of one answer: a seed and a number of steps.
type Asked = (u64, usize);

/// What has been measured so far.
#[derive(Default)]
struct Found {
    kernels: OnceLock<Result<Arc<Vec<Alone>>, String>>,
    layers: Mutex<Vec<(u64, Arc<Activations>)>>,
    spoken: Mutex<Vec<(Asked, Arc<Vec<Spoken>>)>>,
}

/// Evidence of a broken deployment.
#[derive(Clone)]
pub(super) enum Altered {
    Kernels(Arc<Vec<Alone>>),
    Layers(Arc<Activations>),
    Spoken(Arc<Vec<Spoken>>),
    Times(Option<Box<Times>>),
}

impl Case {
    pub fn open(
        frozen: Frozen,
        phase: Phase,
        seed: u64,
        progress: Progress,
    ) -> Result<Self, String> {
        let cache = Cache::at(frozen.root.join(".pilotfish").join("cache"));
        Self::with_cache(frozen, phase, seed, progress, cache)
    }

    pub(super) fn with_cache(
        frozen: Frozen,
        phase: Phase,
        seed: u64,
        progress: Progress,
        cache: Cache,
    ) -> Result<Self, String> {
        let sources = Arc::new(Sources::open(frozen, cache, progress)?);
        Ok(Self { sources, found: Arc::default(), phase, seed, altered: None })
    }

    /// The same evidence, looked at for another phase.
    pub(super) fn in_phase(&self, phase: Phase) -> Self {
        Self { phase, ..self.clone() }
    }

    pub(super) fn with(&self, altered: Altered) -> Self {
        Self { altered: Some(altered), ..self.clone() }
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn sources(&self) -> &Sources {
        &self.sources
    }

    pub fn snapshot(&self) -> &Hash {
        &self.sources.frozen.hash
    }

    pub fn is_synthetic(&self) -> bool {
        self.sources.deployment.is_synthetic()
    }

    pub fn oracle_hash(&self) -> Hash {
        self.sources.model_hash()
    }

    /// Stage, prompts and counts: judgements of the same hash were asked the same.
    pub fn workload_hash(&self) -> Hash {
        let settings = &self.sources.deployment.settings;
        let mut hasher = Hasher::new();
        hasher.part(b"workload of gates 1");
        for part in [settings.seq, self.steps(), self.sources.deployment.capacity()] {
            hasher.part(&(part as u64).to_le_bytes());
        }
        hasher.part(&self.seed.to_le_bytes()).finish()
    }

    pub fn target_fingerprint(&self) -> String {
        let target = &self.sources.deployment.settings.target;
        format!("{target}: {FINGERPRINT}, mean error of predicted times {CALIBRATION_ERROR_PCT} %")
    }

    pub fn provenance(&self) -> String {
        self.sources.deployment.provenance()
    }

    /// A threshold: the engine's own, or what a person wrote into `[gates.<gate>]`.
    pub(super) fn limit(&self, gate: &str, metric: &str, own: f64) -> f64 {
        let overrides = &self.sources.deployment.settings.gates.overrides;
        overrides.get(gate).and_then(|of| of.get(metric)).copied().unwrap_or(own)
    }

    pub(super) fn at_least(&self, gate: &str, metric: &str, own: f64) -> Bound {
        Bound::AtLeast(self.limit(gate, metric, own))
    }

    pub(super) fn at_most(&self, gate: &str, metric: &str, own: f64) -> Bound {
        Bound::AtMost(self.limit(gate, metric, own))
    }

    /// What a person changed for a gate, for its receipt.
    pub(super) fn overrides(&self, gate: &str) -> Vec<(String, f64)> {
        let overrides = &self.sources.deployment.settings.gates.overrides;
        let of = overrides.get(gate).into_iter().flatten();
        of.map(|(metric, value)| (metric.clone(), *value)).collect()
    }

    /// Whether the profile records layers and leaves the verdict to the tokens.
    pub(super) fn is_hf(&self) -> bool {
        self.sources.deployment.settings.gates.profile == "hf"
    }

    /// How many tokens both sides decode.
    pub(super) fn steps(&self) -> usize {
        let large = || {
            let model = self.sources.deployment.model();
            model.is_ok_and(|model| model.config.parameters() > LARGE)
        };
        match self.phase {
            Phase::Integration | Phase::Evaluation => 128,
            _ if large() => 8,
            _ => 32,
        }
    }

    pub(super) fn kernels(&self) -> Result<Arc<Vec<Alone>>, String> {
        if let Some(Altered::Kernels(kernels)) = &self.altered {
            return Ok(Arc::clone(kernels));
        }
        let make = || evidence::harness(&self.sources).map(Arc::new);
        self.found.kernels.get_or_init(make).clone()
    }

    pub(super) fn long(&self) -> Result<Prompt, String> {
        self.sources.long(self.seed)
    }

    /// Every layer of the long prompt.
    pub(super) fn layers(&self) -> Result<Arc<Activations>, String> {
        if let Some(Altered::Layers(layers)) = &self.altered {
            return Ok(Arc::clone(layers));
        }
        let mut kept = self.found.layers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = kept.iter().find(|(seed, _)| *seed == self.seed) {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(evidence::traced(&self.sources, &self.long()?)?);
        kept.push((self.seed, Arc::clone(&made)));
        Ok(made)
    }

    /// Whether the oracle's residual stream holds a sink somewhere on the long prompt.
    pub(super) fn has_sinks(&self) -> Result<bool, String> {
        evidence::has_sinks(&self.sources, &self.long()?)
    }

    /// What both sides say after the short and the long prompt.
    pub(super) fn spoken(&self) -> Result<Arc<Vec<Spoken>>, String> {
        if let Some(Altered::Spoken(spoken)) = &self.altered {
            return Ok(Arc::clone(spoken));
        }
        let asked = (self.seed, self.steps());
        let mut kept = self.found.spoken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = kept.iter().find(|(other, _)| *other == asked) {
            return Ok(Arc::clone(found));
        }
        let prompts = [self.sources.short(self.seed)?, self.long()?];
        let each = prompts.iter().map(|prompt| evidence::spoken(&self.sources, prompt, asked.1));
        let made = Arc::new(each.collect::<Result<Vec<_>, String>>()?);
        kept.push((asked, Arc::clone(&made)));
        Ok(made)
    }

    /// Nothing, where a fault took it away.
    pub(super) fn times(&self, stage: Stage) -> Result<Option<Times>, String> {
        if let Some(Altered::Times(times)) = &self.altered {
            return Ok(times.as_deref().cloned());
        }
        Times::of(&self.sources, stage).map(Some)
    }
}
