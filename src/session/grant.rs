//! A standing answer: what may happen for the rest of a session without asking again.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::phase::Phase;
use crate::base::GateId;

/// A pattern of footprints, never a tool's name; what it leaves empty it does not cover.
///
/// Plain text, so that a person sees exactly what is granted. What asks at every stop (a loosened
/// gate, the world outside, money) has no field here: it cannot be granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Grant {
    pub simulates: bool,
    pub judges: Option<GateId>,
    /// Files, and folders with all that is in them.
    pub writes: Vec<String>,
    /// The first words of a command.
    pub runs: Option<Vec<String>>,
    pub enters: Option<Phase>,
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.simulates.then(|| "check, simulate and profile".to_owned()));
        parts.extend(self.judges.iter().map(|gate| format!("judge `{gate}`")));
        parts.extend(self.writes.iter().map(|place| format!("write `{place}`")));
        parts.extend(self.runs.iter().map(|words| format!("run `{} …`", words.join(" "))));
        parts.extend(self.enters.iter().map(|phase| format!("enter phase {phase}")));
        f.write_str(&parts.join(", "))
    }
}
