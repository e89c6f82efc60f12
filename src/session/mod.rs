//! The log of facts, and the state folded from it.

mod artifact;
mod autonomy;
mod call;
mod entry;
mod event;
mod grant;
mod judged;
mod phase;
mod state;
mod trajectory;
mod transcript;

pub use artifact::Artifact;
pub use autonomy::Autonomy;
pub use call::{Answer, Ruling, ToolCall, ToolOutcome, ToolSpec};
pub use entry::{Author, Entry};
pub use event::{Event, Usage};
pub use grant::Grant;
pub use judged::{Judged, Metric, MutantJudged, Verdict};
pub use phase::Phase;
pub use state::{CallRecord, CallState, DocumentState, State, Unread};
pub use trajectory::{Cost, Profiled, Step, StepKind, Trajectory};
pub use transcript::{Item, Transcript};
