//! What the settings of a workspace say about acting alone.

/// Who is there to be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// A person looks on: what needs a word waits for one.
    #[default]
    Attended,
    /// Nobody does: what would ask is denied, with its reason, and becomes a blocker.
    Headless,
}

/// Places are files, and folders with all that is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Places that a mind may edit from `Autonomy::Edit` on: the target's edit scope.
    pub edit_scope: Vec<String>,
    /// Places that no call may write, whoever says so: receipts, the log, the settings.
    pub protected: Vec<String>,
    /// What is left to spend, in cents.
    pub budget: u32,
    pub presence: Presence,
}

impl Rules {
    /// What holds where the settings say nothing: programs and documents may be edited.
    pub fn standard() -> Self {
        let places = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            edit_scope: places(&EDITABLE),
            protected: places(&PROTECTED),
            budget: 0,
            presence: Presence::Attended,
        }
    }

    pub fn headless(mut self) -> Self {
        self.presence = Presence::Headless;
        self
    }
}

const EDITABLE: [&str; 7] = [
    "program",
    "kernels.toml",
    "plan.md",
    "issues.md",
    "perf_opt_traj.md",
    "lessons.md",
    "phase_timing.md",
];

const PROTECTED: [&str; 4] = ["pilotfish.toml", ".pilotfish", ".git", "reports"];
