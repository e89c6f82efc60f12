//! Big things kept beside the log and named by their hash.

use serde::{Deserialize, Serialize};

use crate::base::ArtifactId;

/// Whatever takes 16 KiB or more is not written into a fact: the fact names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// `diff`, `profile`, `trace`, `report`, `program`, `text` …
    pub kind: String,
    pub hash: ArtifactId,
    /// One line that a person can read instead of opening it.
    pub headline: String,
}
