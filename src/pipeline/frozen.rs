//! The deployment as it is judged: read once, into memory, so that nothing can change under it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::base::{Finding, Hash, Hasher};

/// What of a workspace is judged. Nothing else of it is ever read.
const FILES: &[&str] = &[
    "pilotfish.toml",
    "kernels.toml",
    "plan.md",
    "issues.md",
    "perf_opt_traj.md",
    "lessons.md",
    "phase_timing.md",
    "program/prefill.toml",
    "program/decode.toml",
    ".pilotfish/baseline/prefill.toml",
    ".pilotfish/baseline/decode.toml",
];

/// Read, but no part of the hash: no claim rests on it, and as it tells when things happened no two
/// runs would ever have been judged on the same snapshot.
const TIMES: &str = "phase_timing.md";

/// No file of a deployment comes near this.
const MOST_BYTES: u64 = 16 << 20;

#[derive(Clone, Debug, Default)]
pub struct Frozen {
    pub root: PathBuf,
    files: BTreeMap<&'static str, Vec<u8>>,
    pub hash: Hash,
    /// Files that are not what they should be: links, pipes, giants.
    pub findings: Vec<Finding>,
}

impl Frozen {
    pub fn of(workspace: &Path) -> Result<Self, String> {
        let root = workspace
            .canonicalize()
            .map_err(|error| format!("the workspace {}: {error}", workspace.display()))?;
        let mut frozen = Self { root, ..Self::default() };
        let mut hasher = Hasher::new();
        for name in FILES {
            match read(&frozen.root, name) {
                Ok(Some(bytes)) => {
                    if *name != TIMES {
                        hasher.part(name.as_bytes()).part(&bytes);
                    }
                    frozen.files.insert(name, bytes);
                }
                Ok(None) => (),
                Err(error) => frozen
                    .findings
                    .push(Finding::error(*name, error.to_string()).rule("workspace-file")),
            }
        }
        frozen.hash = hasher.finish();
        Ok(frozen)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.files.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The same files in another folder, read back from there: a clean room. Models are still
    /// found from where the workspace is, and receipts are those of the workspace.
    pub(super) fn copy_to(&self, folder: &Path) -> Result<Self, String> {
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(folder);
            fs::create_dir_all(parent)
                .and_then(|()| fs::write(&path, bytes))
                .map_err(|error| format!("the clean room: {}: {error}", path.display()))?;
        }
        let copy = Self::of(folder)?;
        if copy.hash != self.hash {
            return Err("the clean copy differs from the snapshot".into());
        }
        Ok(Self { root: self.root.clone(), ..copy })
    }

    /// All of them, in the order of their names.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        self.files.iter().map(|(name, bytes)| (*name, bytes.as_slice()))
    }
}

/// One regular file below the root, reached through real folders only.
fn read(root: &Path, name: &str) -> io::Result<Option<Vec<u8>>> {
    let mut path = root.to_path_buf();
    let mut parts = name.split('/').peekable();
    while let Some(part) = parts.next() {
        path.push(part);
        let kind = match fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let expected = if parts.peek().is_some() { kind.is_dir() } else { kind.is_file() };
        if !expected {
            return Err(io::Error::other("is a link, or no regular file"));
        }
    }
    let mut bytes = Vec::new();
    fs::File::open(&path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("is larger than {MOST_BYTES} bytes")));
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_not_followed_and_what_is_absent_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("program")).unwrap();
        fs::write(folder.path().join("program/decode.toml"), "a").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("plan.md")).unwrap();
        let frozen = Frozen::of(folder.path()).unwrap();
        assert_eq!(frozen.text("program/decode.toml").as_deref(), Some("a"));
        assert_eq!(frozen.text("plan.md"), None);
        assert_eq!(frozen.text("issues.md"), None);
        assert_eq!(frozen.findings.len(), 1);
    }
}
