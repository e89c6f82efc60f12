//! How far the agent may go alone: five stops, each includes the one before.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Autonomy {
    /// Reads, and nothing else.
    Observe,
    /// Checks, simulates, profiles, and has gates judged.
    #[default]
    Guide,
    /// Edits inside the edit scope, and the documents.
    Edit,
    /// Runs commands inside the sandbox and goes through whole phases; a person says "go" between.
    Phase,
    /// All that stays inside the workspace, the sandbox, the gates and the budget.
    Auto,
}

impl Autonomy {
    pub const ALL: [Self; 5] = [Self::Observe, Self::Guide, Self::Edit, Self::Phase, Self::Auto];

    pub fn name(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Guide => "guide",
            Self::Edit => "edit",
            Self::Phase => "phase",
            Self::Auto => "auto",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stop| stop.name() == name)
    }

    /// What this stop lets go ahead alone, in one line for the slider.
    pub fn doc(self) -> &'static str {
        match self {
            Self::Observe => "reads alone, asks for everything else",
            Self::Guide => "checks, simulates and judges alone, asks for each edit and phase step",
            Self::Edit => "edits the program and the documents alone, asks for phase steps",
            Self::Phase => "runs whole phases alone, asks between them",
            Self::Auto => "everything in scope, asks for blockers only",
        }
    }

    pub fn more(self) -> Self {
        Self::ALL.into_iter().find(|stop| *stop > self).unwrap_or(self)
    }

    pub fn less(self) -> Self {
        Self::ALL.into_iter().rev().find(|stop| *stop < self).unwrap_or(self)
    }
}

impl fmt::Display for Autonomy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
