//! The files: documents, patches, snapshots, watching, processes, sandbox.
