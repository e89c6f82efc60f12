//! The files: documents, patches, snapshots, watching, processes, sandbox.

mod error;
mod path;
mod root;
mod settings;
mod settings_text;
mod snapshot;

pub use error::WorkspaceError;
pub use path::{EscapesRoot, PRIVATE, Path};
pub use root::{Workspace, Written};
pub use settings::{Budgets, GateSettings, RuleSettings, SETTINGS, STOPS, Settings};
pub use snapshot::{Limits, Node, Snapshot};
