//! Paths that cannot leave the workspace.

use std::fmt;
use std::path::{Component, PathBuf};

/// A path below the workspace's root. Invariant: relative, not empty, and never climbs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(PathBuf);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a path inside the workspace")]
pub struct EscapesRoot(pub String);

impl Path {
    pub fn new(text: &str) -> Result<Self, EscapesRoot> {
        let parts = std::path::Path::new(text).components();
        let mut path = PathBuf::new();
        for part in parts {
            match part {
                Component::Normal(name) => path.push(name),
                Component::CurDir => (),
                _ => return Err(EscapesRoot(text.to_owned())),
            }
        }
        if path.as_os_str().is_empty() || text.contains('\0') {
            return Err(EscapesRoot(text.to_owned()));
        }
        Ok(Self(path))
    }

    pub fn as_std(&self) -> &std::path::Path {
        &self.0
    }

    /// Whether this is one of the files, or lies in one of the folders. Whole names are compared.
    pub fn is_in(&self, places: &[String]) -> bool {
        places.iter().any(|place| self.0.starts_with(place))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}
