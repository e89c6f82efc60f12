//! The files: documents, patches, snapshots, watching, processes, sandbox.

mod path;

pub use path::{EscapesRoot, Path};
