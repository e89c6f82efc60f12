//! What a live session tells its faces: facts, which they fold, and drafts, which they may miss.

use std::sync::Arc;

use crate::base::{CallId, Sample};
use crate::session::Entry;

#[derive(Clone, Debug)]
pub enum Update {
    Fact(Arc<Entry>),
    /// Text of a reply that is still being said: the whole of it so far.
    Saying(String),
    /// Words of a call at work.
    Working {
        call: CallId,
        words: String,
    },
    /// A bar of the live profile.
    Sample(Sample),
    /// The session can no longer go on: the log cannot be written, for one.
    Broken(String),
    /// Nothing is at work and nothing is asked.
    Idle,
}
