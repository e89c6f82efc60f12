//! What a network is asked to do: tokens in, tokens out.

use serde::{Deserialize, Serialize};

use crate::base::{Hash, Hasher};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    pub prompt: Vec<u32>,
    /// How many tokens to generate.
    pub tokens: usize,
}

impl Workload {
    /// Two times may be compared only when the workload's hash is the same.
    pub fn hash(&self) -> Hash {
        let mut hasher = Hasher::new();
        hasher.part(b"workload 1");
        for id in &self.prompt {
            hasher.part(&id.to_le_bytes());
        }
        hasher.part(&(self.tokens as u64).to_le_bytes());
        hasher.finish()
    }
}
