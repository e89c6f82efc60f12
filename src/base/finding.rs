//! Problems that do not stop us: what parsers, checks and loaders return beside their result.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Note,
    Warning,
    Error,
}

/// One problem: which rule, where, with which numbers, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub severity: Severity,
    /// The rule that was broken, such as `gemm-l1`; empty for a mere parse.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// A file with line and column, or a place in a program: `prefill.toml · layer · ffn · launch 2`.
    pub place: String,
    /// What is wrong, with the numbers that make it so.
    pub message: String,
    /// What to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    pub fn error(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, place.into(), message.into())
    }

    pub fn warning(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, place.into(), message.into())
    }

    pub fn note(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, place.into(), message.into())
    }

    fn new(severity: Severity, place: String, message: String) -> Self {
        Self { severity, rule: String::new(), place, message, hint: None }
    }

    pub fn rule(mut self, rule: &str) -> Self {
        rule.clone_into(&mut self.rule);
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}: {}", self.message)?;
        if !self.place.is_empty() {
            write!(f, "\n   at: {}", self.place)?;
        }
        if !self.rule.is_empty() {
            write!(f, "\n rule: {}", self.rule)?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n hint: {hint}")?;
        }
        Ok(())
    }
}
