//! The log of facts, and the state folded from it.

mod artifact;
mod artifacts;
mod autonomy;
mod call;
mod entry;
mod error;
mod event;
mod find;
mod fork;
mod grant;
mod judged;
mod log;
mod phase;
mod replay;
mod state;
mod store;
mod trajectory;
mod transcript;

pub use artifact::Artifact;
pub use artifacts::{ARTIFACT_FROM, Artifacts};
pub use autonomy::Autonomy;
pub use call::{Answer, Ruling, ToolCall, ToolOutcome, ToolSpec};
pub use entry::{Author, Entry};
pub use error::LogError;
pub use event::{Event, Usage};
pub use find::{Workspaces, find};
pub use fork::fork;
pub use grant::Grant;
pub use judged::{Judged, Metric, MutantJudged, Verdict};
pub use log::Log;
pub use phase::Phase;
pub use replay::Replay;
pub use state::{CallRecord, CallState, DocumentState, State, Unread};
pub use store::{Header, Store};
pub use trajectory::{Cost, Profiled, Step, StepKind, Trajectory};
pub use transcript::{Item, Transcript};
