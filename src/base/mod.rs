//! What any program needs: ids, clock, hash, stop, findings.

mod clock;
pub mod crash;
pub mod file;
mod finding;
mod hash;
mod id;
mod progress;
mod stop;
mod text;

pub use clock::{Clock, FixedClock, StillClock, SystemClock, Time};
pub use file::FileError;
pub use finding::{Finding, Severity};
pub use hash::{Hash, Hasher};
pub use id::{ArtifactId, CallId, GateId, Ids, PromptId, SessionId};
pub use progress::{Progress, Sample};
pub use stop::{Stop, StopGuard};
pub use text::{clean, nearest, plural, shorten};
