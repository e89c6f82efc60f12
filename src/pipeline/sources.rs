//! Where evidence comes from: the oracle, the target and the companion, each opened once if at all.

use std::sync::{Arc, OnceLock};

use super::cache::Cache;
use super::deployment::Deployment;
use super::frozen::Frozen;
use super::prompts::Prompt;
use crate::base::{Hash, Progress};
use crate::model::{Oracle, Stage};

pub(super) struct Sources {
    pub frozen: Frozen,
    pub deployment: Deployment,
    pub cache: Cache,
    pub progress: Progress,
    oracle: OnceLock<Result<Arc<Oracle>, String>>,
    programs: OnceLock<Result<Hash, String>>,
}

impl Sources {
    pub(super) fn open(frozen: Frozen, cache: Cache, progress: Progress) -> Result<Self, String> {
        let deployment = Deployment::open(&frozen)?;
        let (oracle, programs) = (OnceLock::new(), OnceLock::new());
        Ok(Self { frozen, deployment, cache, progress, oracle, programs })
    }

    pub(super) fn oracle(&self) -> Result<&Arc<Oracle>, String> {
        let made = self.oracle.get_or_init(|| {
            let model = Arc::clone(self.deployment.model()?);
            Oracle::new(model).map(Arc::new).map_err(|error| error.to_string())
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// The programs that would run, whatever their files look like.
    pub(super) fn programs(&self) -> Result<&Hash, String> {
        let made = self.programs.get_or_init(|| {
            let both = Stage::ALL.map(|stage| self.deployment.program(stage));
            let [prefill, decode] = both;
            let text =
                serde_json::to_vec(&(prefill?, decode?)).map_err(|error| error.to_string())?;
            Ok(Hash::of(&text))
        });
        made.as_ref().map_err(Clone::clone)
    }

    pub(super) fn model_hash(&self) -> Hash {
        self.deployment.model_hash()
    }

    /// A prompt as long as the program's sequence.
    pub(super) fn long(&self, seed: u64) -> Result<Prompt, String> {
        super::prompts::long(self.deployment.model()?, self.deployment.settings.seq, seed)
    }

    pub(super) fn short(&self, seed: u64) -> Result<Prompt, String> {
        super::prompts::text(self.deployment.model()?, super::prompts::CANONICAL, seed)
    }
}
