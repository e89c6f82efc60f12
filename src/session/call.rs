//! The life of a tool call: offered, called, ruled, answered, returned.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::artifact::Artifact;
use super::grant::Grant;
use crate::base::{ArtifactId, CallId};

/// What a mind is told about a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    pub name: &'static str,
    pub doc: &'static str,
    /// JSON Schema of the arguments.
    pub schema: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub tool: String,
    /// An object whose keys the tool's schema names.
    pub args: Value,
}

/// What the policy says of a call, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ruling", rename_all = "lowercase")]
pub enum Ruling {
    Allow { why: String },
    Ask { why: String },
    Deny { why: String },
}

/// What a person says of a call that was asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", content = "with", rename_all = "lowercase")]
pub enum Answer {
    Once,
    Always(Grant),
    /// Do it as the person rewrote it: the artifact is the whole new text of the one file written.
    Edited(ArtifactId),
    /// Do only these hunks of its patch, counted from 0.
    Hunks(Vec<u32>),
    /// Do not, and go on from these words.
    Reject {
        why: String,
    },
    /// Do not, and end the turn.
    Stop,
}

/// How a call ended. A failed call is not an error of ours: the mind reads it and goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum ToolOutcome {
    Done {
        /// For a reader: what was done, in one or a few lines.
        text: String,
        /// For a program: what was found, by the tool's own keys.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        value: Value,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        artifacts: Vec<Artifact>,
    },
    Failed {
        text: String,
        #[serde(default, skip_serializing_if = "Value::is_null")]
        value: Value,
    },
    Denied {
        why: String,
    },
    Stopped,
}

impl ToolOutcome {
    pub fn done(text: impl Into<String>, value: Value) -> Self {
        Self::Done { text: text.into(), value, artifacts: Vec::new() }
    }

    pub fn failed(text: impl Into<String>) -> Self {
        Self::Failed { text: text.into(), value: Value::Null }
    }

    /// One word for the transcript.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done { .. } => "done",
            Self::Failed { .. } => "failed",
            Self::Denied { .. } => "denied",
            Self::Stopped => "stopped",
        }
    }

    /// What a reader is shown.
    pub fn text(&self) -> &str {
        match self {
            Self::Done { text, .. } | Self::Failed { text, .. } => text,
            Self::Denied { why } => why,
            Self::Stopped => "stopped before it ended",
        }
    }
}
