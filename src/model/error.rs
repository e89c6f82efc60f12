//! Why a model cannot be used: what happened, where, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::base::Finding;

#[derive(Debug, Error)]
pub enum ModelError {
    #[error("cannot read `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Nothing that is known by this name.
    #[error("no model `{name}`")]
    NotFound { name: String, hint: String },
    /// The file breaks its own format: cut short, lying about itself, or not what it claims to be.
    #[error("{place} is broken: {message}")]
    Broken { place: String, message: String },
    /// Something that must be there is not.
    #[error("{place}: {what} is missing")]
    Missing { place: String, what: String, hint: String },
    /// A network of a kind that we do not deploy.
    #[error("{place}: out of scope: {reason}")]
    OutOfScope { place: String, reason: String },
    /// A dtype or a tokenizer that we cannot read.
    #[error("{place}: {what} is not supported")]
    Unsupported { place: String, what: String, hint: String },
    /// Two parts of the checkpoint contradict each other.
    #[error("{place}: {message}")]
    Mismatch { place: String, message: String, hint: String },
    /// What was asked of the model is not possible.
    #[error("{message}")]
    Input { message: String, hint: String },
    #[error("cannot fetch `{what}`: {message}")]
    Fetch { what: String, message: String, hint: String },
    #[error("stopped")]
    Stopped,
}

impl ModelError {
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(in crate::model) fn broken(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Broken { place: place.into(), message: message.into() }
    }

    pub(in crate::model) fn input(message: impl Into<String>, hint: &str) -> Self {
        Self::Input { message: message.into(), hint: hint.to_owned() }
    }

    pub(in crate::model) fn out_of_scope(place: &str, reason: impl Into<String>) -> Self {
        Self::OutOfScope { place: place.to_owned(), reason: reason.into() }
    }

    /// What to do about it; empty when there is nothing better to say than the error itself.
    pub fn hint(&self) -> &str {
        match self {
            Self::Io { .. } => "check that the path exists and may be read",
            Self::Broken { .. } => "download the file again and compare its size and hash",
            Self::OutOfScope { .. } => {
                "dense decoders of Llama, Qwen2, Qwen3 and Mistral are in scope"
            }
            Self::NotFound { hint, .. }
            | Self::Missing { hint, .. }
            | Self::Unsupported { hint, .. }
            | Self::Mismatch { hint, .. }
            | Self::Input { hint, .. }
            | Self::Fetch { hint, .. } => hint,
            Self::Stopped => "",
        }
    }

    /// The same as a finding, for reports.
    pub fn finding(&self) -> Finding {
        let place = match self {
            Self::Io { path, .. } => path.display().to_string(),
            Self::Broken { place, .. }
            | Self::Missing { place, .. }
            | Self::OutOfScope { place, .. }
            | Self::Unsupported { place, .. }
            | Self::Mismatch { place, .. } => place.clone(),
            _ => String::new(),
        };
        let finding = Finding::error(place, self.to_string());
        if self.hint().is_empty() { finding } else { finding.hint(self.hint()) }
    }
}
