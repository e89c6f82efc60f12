//! Typed ids: a call is not a gate.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::clock::Time;
use super::hash::Hash;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    )+ };
}

ids! {
    /// One session: the name of its folder under `.pilotfish/sessions/`.
    SessionId
    /// One tool call within a session.
    CallId
    /// One gate of the pipeline, such as `logits`.
    GateId
    /// One artifact: the hash of its content.
    ArtifactId
}

/// One prompt of a session: they are counted, so that a late reply can be told from a fresh one.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PromptId(u64);

impl PromptId {
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    pub fn number(self) -> u64 {
        self.0
    }
}

/// Where fresh session ids come from. Handed in, so that tests and replays are bit-equal.
#[derive(Debug, Default)]
pub struct Ids {
    seed: Option<u64>,
    count: AtomicU64,
}

impl Ids {
    /// The same ids in the same order, every time.
    pub fn seeded(seed: u64) -> Self {
        Self { seed: Some(seed), count: AtomicU64::new(0) }
    }

    /// A name that sorts by time: seconds since the epoch, then what tells neighbours apart.
    pub fn session(&self, now: Time) -> SessionId {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let noise = match self.seed {
            Some(seed) => Hash::of(format!("{seed}/{count}").as_bytes()),
            None => Hash::of(format!("{}/{count}/{}", now.millis(), std::process::id()).as_bytes()),
        };
        SessionId(format!("{:010x}-{}", now.millis() / 1000, &noise.as_str()[..6]))
    }
}
