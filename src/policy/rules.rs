//! What the settings of a workspace say about acting alone.

use crate::workspace::{PRIVATE, Settings};

/// Who is there to be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// A person looks on: what needs a word waits for one.
    #[default]
    Attended,
    /// Nobody does: what would ask is denied, with its reason, and becomes a blocker.
    Headless,
}

/// Places are patterns of `workspace::Path::matches`: files, folders with all that is in them, `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Places that a mind may edit from `Autonomy::Edit` on: the target's edit scope.
    pub edit_scope: Vec<String>,
    /// Places that every stop asks about.
    pub guarded: Vec<String>,
    /// Places that no call may write, whoever says so: receipts, reports, the log itself.
    pub sealed: Vec<String>,
    /// What one call may spend, in cents.
    pub budget: u32,
    pub presence: Presence,
}

/// What the engine itself writes.
const SEALED: [&str; 2] = [PRIVATE, "reports/"];

/// What is written for people, and shown to them as it is written.
const DOCUMENTS: [&str; 6] =
    ["plan.md", "issues.md", "perf_opt_traj.md", "lessons.md", "phase_timing.md", "kernels.toml"];

impl Rules {
    pub fn of(settings: &Settings, presence: Presence) -> Self {
        let documents = DOCUMENTS.iter().map(|&place| place.to_owned());
        Self {
            edit_scope: settings.rules.edit_scope.iter().cloned().chain(documents).collect(),
            guarded: settings.rules.protected.clone(),
            sealed: SEALED.iter().map(|&place| place.to_owned()).collect(),
            budget: settings.budgets.cents.map_or(0, |cents| cents.max(0.0) as u32),
            presence,
        }
    }
}
