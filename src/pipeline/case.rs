//! What a gate may look at: one frozen deployment and what was measured on it, never a mind.

use super::frozen::Frozen;
use super::gate::Gate;
use crate::base::Hash;
use crate::session::Phase;

/// Evidence is made when the first gate asks for it, and shared by all that follow.
pub struct Case {
    frozen: Frozen,
    phase: Phase,
    seed: u64,
}

impl Case {
    pub fn open(frozen: Frozen, phase: Phase, seed: u64) -> Result<Self, String> {
        Ok(Self { frozen, phase, seed })
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub fn snapshot(&self) -> &Hash {
        &self.frozen.hash
    }

    pub fn inputs(&self, gate: &Gate) -> Hash {
        self.frozen.inputs(gate)
    }

    pub fn is_synthetic(&self) -> bool {
        false
    }

    pub fn oracle_hash(&self) -> Hash {
        Hash::default()
    }

    pub fn workload_hash(&self) -> Hash {
        Hash::default()
    }

    pub fn target_fingerprint(&self) -> String {
        String::new()
    }

    pub fn provenance(&self) -> String {
        String::new()
    }
}
