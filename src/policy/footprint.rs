//! What a call would touch: all that the policy knows of it.

use std::fmt;

use crate::base::GateId;
use crate::session::{Grant, Phase};
use crate::workspace::Path;

/// Said by a tool from the arguments of a call alone, before anything is touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    pub reads: Vec<Path>,
    pub writes: Vec<Path>,
    /// A command inside the sandbox, word by word: no shell reads it again.
    pub runs: Option<Vec<String>>,
    /// What is outside: a host, a file beyond the workspace, the machine beyond the sandbox.
    pub reaches: Vec<String>,
    /// Checks, simulates or profiles on the simulator.
    pub simulates: bool,
    /// Has a gate judged. The evaluator does that, so such a call does nothing else.
    pub judges: Option<GateId>,
    pub enters: Option<Phase>,
    /// Gates whose claim or tolerance would change.
    pub loosens: Vec<GateId>,
    /// In cents.
    pub spends: u32,
}

impl Footprint {
    /// Touches nothing, or nothing that is left to ask about.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The widest standing answer that covers this and nothing of another kind: what `always`
    /// offers. `None`: something here asks at every stop, so nothing can stand for it.
    ///
    /// A write is granted for its file, a command for its first two words (`make run`, not `make`).
    pub fn grant(&self) -> Option<Grant> {
        let asks_always = !self.reaches.is_empty() || !self.loosens.is_empty() || self.spends > 0;
        if asks_always {
            return None;
        }
        let first = |words: &Vec<String>| words.iter().take(2).cloned().collect();
        Some(Grant {
            simulates: self.simulates,
            judges: self.judges.clone(),
            writes: self.writes.iter().map(ToString::to_string).collect(),
            runs: self.runs.as_ref().map(first),
            enters: self.enters,
        })
    }
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.reads.iter().map(|path| format!("reads `{path}`")));
        parts.extend(self.writes.iter().map(|path| format!("writes `{path}`")));
        parts.extend(self.runs.iter().map(|words| format!("runs `{}`", words.join(" "))));
        parts.extend(self.reaches.iter().map(|place| format!("reaches `{place}`")));
        parts.extend(self.simulates.then(|| "simulates".to_owned()));
        parts.extend(self.judges.iter().map(|gate| format!("has `{gate}` judged")));
        parts.extend(self.enters.iter().map(|phase| format!("enters phase `{phase}`")));
        parts.extend(self.loosens.iter().map(|gate| format!("changes the gate `{gate}`")));
        parts.extend((self.spends > 0).then(|| format!("spends {} cents", self.spends)));
        f.write_str(&parts.join(", "))
    }
}
