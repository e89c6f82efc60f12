//! What work tells while it runs: words and timed samples. Drafts for faces, never facts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// One bar of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// `npu`, `host` or `upload`.
    pub lane: String,
    pub name: String,
    pub start_ns: u64,
    pub len_ns: u64,
}

/// Where progress goes. Cheap to clone; listeners must not block.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Listen>>);

trait Listen: Send + Sync {
    fn said(&self, words: &str);
    fn sampled(&self, sample: &Sample);
}

struct Pair<W, S>(W, S);

impl<W, S> Listen for Pair<W, S>
where
    W: Fn(&str) + Send + Sync,
    S: Fn(&Sample) + Send + Sync,
{
    fn said(&self, words: &str) {
        self.0(words);
    }

    fn sampled(&self, sample: &Sample) {
        self.1(sample);
    }
}

impl Progress {
    pub fn silent() -> Self {
        Self::default()
    }

    pub fn to(
        words: impl Fn(&str) + Send + Sync + 'static,
        samples: impl Fn(&Sample) + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(Pair(words, samples))))
    }

    pub fn say(&self, words: &str) {
        if let Some(listener) = &self.0 {
            listener.said(words);
        }
    }

    pub fn sample(&self, sample: &Sample) {
        if let Some(listener) = &self.0 {
            listener.sampled(sample);
        }
    }
}
