//! Errors as a person reads them: what happened, where, what to do; and the code they end with.

use std::fmt;

use super::exit::{BLOCKED, USAGE};
use super::output;
use crate::base::Finding;
use crate::model::ModelError;

/// An error that knows its hint, and its code.
#[derive(Debug)]
pub(super) struct Problem {
    pub what: String,
    pub hint: String,
    pub code: u8,
}

impl Problem {
    /// Usage or input: the person can put it right.
    pub(super) fn usage(what: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        Self { what: what.into(), hint: hint.into(), code: USAGE }.into()
    }

    pub(super) fn blocked(what: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        Self { what: what.into(), hint: hint.into(), code: BLOCKED }.into()
    }

    pub(super) fn model(error: &ModelError) -> anyhow::Error {
        Self::usage(error.to_string(), error.hint())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.hint.is_empty() {
            write!(f, "\n hint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Says an error and returns the code to end with.
pub(super) fn report(error: &anyhow::Error) -> u8 {
    let mut told = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if told.is_empty() {
            told = cause;
        } else if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    let told = told.strip_prefix("error: ").unwrap_or(&told);
    output::complain(&format!("error: {told}"));
    error.downcast_ref::<Problem>().map_or(USAGE, |problem| problem.code)
}

/// Says what is odd but stops nobody.
pub(super) fn mention(findings: &[Finding]) {
    for finding in findings {
        output::complain(&finding.to_string());
    }
}
