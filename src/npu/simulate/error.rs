//! Why a program cannot run on the simulator.

use thiserror::Error;

use crate::base::{Finding, Stop};
use crate::model::{ModelError, Stage};

#[derive(Debug, Error)]
pub enum SimulateError {
    /// The device or its compiler would refuse it, or get it silently wrong.
    #[error("{stage} is not legal: {first}", first = findings.first().map_or("", |f| &f.message))]
    Illegal { stage: Stage, findings: Vec<Finding> },
    /// Not even a device without rules could run it.
    #[error("{place}: {message}")]
    Senseless { place: String, message: String, hint: String },
    /// What was asked of the deployment is not possible.
    #[error("{message}")]
    Input { message: String, hint: String },
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("stopped")]
    Stopped,
}

impl SimulateError {
    pub(super) fn senseless(
        place: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::Senseless { place: place.into(), message: message.into(), hint: hint.into() }
    }

    pub(super) fn input(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Input { message: message.into(), hint: hint.into() }
    }

    pub(super) fn unless_stopped(stop: &Stop) -> Result<(), Self> {
        if stop.is_wanted() { Err(Self::Stopped) } else { Ok(()) }
    }

    /// The same as findings, for reports.
    pub fn findings(&self) -> Vec<Finding> {
        match self {
            Self::Illegal { findings, .. } => findings.clone(),
            Self::Senseless { place, message, hint } => {
                vec![Finding::error(place, message).hint(hint)]
            }
            Self::Input { message, hint } => vec![Finding::error("", message).hint(hint)],
            Self::Model(error) => vec![error.finding()],
            Self::Stopped => vec![Finding::note("", "stopped")],
        }
    }
}
