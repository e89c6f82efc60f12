//! The eight phases of a deployment, in order.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    #[default]
    Reference,
    Kernels,
    Block,
    Model,
    Prefill,
    Decode,
    Integration,
    Evaluation,
}

impl Phase {
    pub const ALL: [Self; 8] = [
        Self::Reference,
        Self::Kernels,
        Self::Block,
        Self::Model,
        Self::Prefill,
        Self::Decode,
        Self::Integration,
        Self::Evaluation,
    ];

    /// 0 to 7, as people count them.
    pub fn number(self) -> usize {
        self as usize
    }

    /// The word used in logs, recipes and calls.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Kernels => "kernels",
            Self::Block => "block",
            Self::Model => "model",
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Integration => "integration",
            Self::Evaluation => "evaluation",
        }
    }

    /// The heading used in documents.
    pub fn title(self) -> &'static str {
        match self {
            Self::Reference => "CPU reference",
            Self::Kernels => "Kernel validation",
            Self::Block => "Single block",
            Self::Model => "Full model",
            Self::Prefill => "Prefill optimisation",
            Self::Decode => "Decode optimisation",
            Self::Integration => "Integration and learning",
            Self::Evaluation => "Independent evaluation",
        }
    }

    /// By name or by number.
    pub fn parse(word: &str) -> Option<Self> {
        let number = word.parse().ok();
        Self::ALL.into_iter().find(|phase| phase.name() == word || Some(phase.number()) == number)
    }

    pub fn next(self) -> Option<Self> {
        Self::ALL.get(self.number() + 1).copied()
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
