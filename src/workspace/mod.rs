//! The files: documents, patches, snapshots, watching, processes, sandbox.

mod diff;
mod document;
mod error;
mod group;
mod patch;
mod path;
mod process;
mod root;
mod sandbox;
mod saved;
mod settings;
mod settings_text;
mod snapshot;
mod substitute;
mod watch;

pub use diff::{Hunk, Line, Mark, hunks, lines};
pub use document::{Edit, Heading, outline, section};
pub use error::WorkspaceError;
pub use patch::{Patch, PatchError};
pub use path::{EscapesRoot, PRIVATE, Path};
pub use process::{Command, End, Finished, Stream};
pub use root::{Workspace, Written};
pub use sandbox::{Confined, Sandbox};
pub use saved::{Merged, Saved, merge};
pub use settings::{Budgets, GateSettings, RuleSettings, SETTINGS, STOPS, Settings};
pub use snapshot::{Limits, Node, Snapshot};
pub use substitute::substitute;
pub use watch::{Seen, Watch};
