//! The workspace: a folder whose files are read and replaced whole, and never lost.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::WorkspaceError;
use super::path::{PRIVATE, Path};
use crate::base::{FileError, Hash, file};

/// The most that is read of one file: documents and programs are small.
const MOST: u64 = 64 << 20;

/// A folder that was opened. Clones share what they know of their own writes.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
    own: Arc<Mutex<BTreeMap<Path, Hash>>>,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub hash: Hash,
    /// What was there before, if something was.
    pub before: Option<Hash>,
    /// Where what was there is kept, if it was not ours.
    pub backup: Option<Path>,
}

impl Workspace {
    /// Opens a folder that is there.
    pub fn open(root: &FilePath) -> Result<Self, WorkspaceError> {
        let root = root.canonicalize().map_err(FileError::at("open", root))?;
        if !root.is_dir() {
            let error = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(FileError::new("open", &root, error).into());
        }
        Ok(Self { root, own: Arc::default() })
    }

    /// Opens a folder, made if it is missing, and makes sure that it can be written to.
    pub fn create(root: &FilePath) -> Result<Self, WorkspaceError> {
        file::create_folder(root)?;
        let workspace = Self::open(root)?;
        let probe = workspace.private("probe");
        file::replace(&probe, b"", &workspace.staging(), "tool-write")?;
        fs::remove_file(&probe).map_err(FileError::at("write", &probe))?;
        Ok(workspace)
    }

    pub fn root(&self) -> &FilePath {
        &self.root
    }

    /// A place of ours below `.pilotfish`.
    pub fn private(&self, place: &str) -> PathBuf {
        self.root.join(PRIVATE).join(place)
    }

    pub fn sessions(&self) -> PathBuf {
        self.private("sessions")
    }

    pub fn receipts(&self) -> PathBuf {
        self.private("receipts")
    }

    fn staging(&self) -> PathBuf {
        self.private("staging")
    }

    /// Removes what writes left behind that a killed process had begun. Only for whoever holds
    /// the log of the session: another process may be writing otherwise.
    pub fn sweep(&self) {
        let _ = fs::remove_dir_all(self.staging());
        for folder in [self.receipts(), self.private("cache"), self.root.join("reports")] {
            for item in fs::read_dir(folder).into_iter().flatten().flatten() {
                if item.file_name().to_string_lossy().starts_with(".tmp") {
                    let _ = fs::remove_file(item.path());
                }
            }
        }
    }

    /// Where a path leads on the disk; refused if a link on the way leads out.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, WorkspaceError> {
        let mut place = self.root.clone();
        for part in path.parts() {
            place.push(part);
            let is_link = fs::symlink_metadata(&place).is_ok_and(|about| about.is_symlink());
            if !is_link {
                continue;
            }
            let inside = place.canonicalize().ok().filter(|to| to.starts_with(&self.root));
            let Some(inside) = inside else {
                let link = place.strip_prefix(&self.root).unwrap_or(&place).display().to_string();
                return Err(WorkspaceError::Escapes { path: path.clone(), link });
            };
            place = inside;
        }
        Ok(place)
    }

    pub fn exists(&self, path: &Path) -> bool {
        self.resolve(path).is_ok_and(|place| place.exists())
    }

    pub fn read(&self, path: &Path) -> Result<Vec<u8>, WorkspaceError> {
        Ok(file::read(&self.resolve(path)?, MOST)?)
    }

    pub fn text(&self, path: &Path) -> Result<String, WorkspaceError> {
        String::from_utf8(self.read(path)?).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            WorkspaceError::NotText { path: path.clone(), at }
        })
    }

    /// The hash of a file, or nothing if it is not there.
    pub fn hash(&self, path: &Path) -> Result<Option<Hash>, WorkspaceError> {
        match self.read(path) {
            Ok(bytes) => Ok(Some(Hash::of(&bytes))),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All regular files outside of `.pilotfish` and `.git`, in order.
    pub fn list(&self) -> Result<Vec<Path>, WorkspaceError> {
        let mut files = Vec::new();
        let mut folders = vec![(self.root.clone(), String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            for item in fs::read_dir(&folder).map_err(FileError::at("list", &folder))? {
                let item = item.map_err(FileError::at("list", &folder))?;
                let Some(name) = item.file_name().to_str().map(|name| format!("{prefix}{name}"))
                else {
                    continue;
                };
                let kind = item.file_type().map_err(FileError::at("list", &item.path()))?;
                if kind.is_dir() && !is_left_out(&name) {
                    folders.push((item.path(), format!("{name}/")));
                } else if kind.is_file() {
                    files.extend(Path::new(&name).ok());
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// Replaces a file whole. What is overwritten is kept in `.pilotfish/backups` unless it is
    /// what `ours` says, or what this process wrote last.
    pub fn write(
        &self,
        path: &Path,
        bytes: &[u8],
        ours: Option<&Hash>,
    ) -> Result<Written, WorkspaceError> {
        self.write_at(path, bytes, ours, "tool-write")
    }

    /// As `write`, passing another point at which a test may kill the process.
    pub(super) fn write_at(
        &self,
        path: &Path,
        bytes: &[u8],
        ours: Option<&Hash>,
        point: &str,
    ) -> Result<Written, WorkspaceError> {
        let place = self.root.join(path.as_str());
        if fs::symlink_metadata(&place).is_ok_and(|about| about.is_symlink()) {
            return Err(WorkspaceError::Link { path: path.clone() });
        }
        let place = self.resolve(path)?;
        let hash = Hash::of(bytes);
        let old = match self.read(path) {
            Ok(old) => Some(old),
            Err(error) if error.is_missing() => None,
            Err(error) => return Err(error),
        };
        let before = old.as_deref().map(Hash::of);
        if before.as_ref() == Some(&hash) {
            self.own().insert(path.clone(), hash.clone());
            return Ok(Written { hash, before, backup: None });
        }
        let known = self.own().get(path).cloned();
        let is_ours = before.is_none() || before.as_ref() == ours || before == known;
        let backup = match (&old, &before) {
            (Some(old), Some(before)) if !is_ours => Some(self.back_up(path, old, before)?),
            _ => None,
        };
        self.own().insert(path.clone(), hash.clone());
        file::replace(&place, bytes, &self.staging(), point)?;
        Ok(Written { hash, before, backup })
    }

    fn back_up(&self, path: &Path, old: &[u8], hash: &Hash) -> Result<Path, WorkspaceError> {
        let kept = format!("{PRIVATE}/backups/{}/{path}", hash.short());
        let place = self.root.join(&kept);
        if !place.exists() {
            file::replace(&place, old, &self.staging(), "tool-write")?;
        }
        Ok(Path::new(&kept)?)
    }

    /// Removes a file, kept in the backups as an overwritten one is.
    pub fn remove(&self, path: &Path, ours: Option<&Hash>) -> Result<Written, WorkspaceError> {
        let old = self.read(path)?;
        let hash = Hash::of(&old);
        let is_ours = Some(&hash) == ours;
        let backup = if is_ours { None } else { Some(self.back_up(path, &old, &hash)?) };
        let place = self.root.join(path.as_str());
        fs::remove_file(&place).map_err(FileError::at("remove", &place))?;
        self.own().remove(path);
        Ok(Written { hash: Hash::default(), before: Some(hash), backup })
    }

    /// Takes this content of a file as written by us: a log says so.
    pub fn claim(&self, path: &Path, hash: &Hash) {
        self.own().insert(path.clone(), hash.clone());
    }

    /// Whether this content of this file was written by us, and last.
    pub fn is_own(&self, path: &Path, hash: &Hash) -> bool {
        self.own().get(path) == Some(hash)
    }

    fn own(&self) -> MutexGuard<'_, BTreeMap<Path, Hash>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells when things happened: with it no two trees would ever be the same.
pub(super) const TIMES: &str = "phase_timing.md";

/// Folders at the root that are no part of the deployment.
pub(super) fn is_left_out(name: &str) -> bool {
    name == PRIVATE || name == ".git"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn path(text: &str) -> Path {
        Path::new(text).unwrap()
    }

    #[test]
    fn a_persons_content_is_kept_when_it_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        let plan = path("notes/plan.md");
        let first = workspace.write(&plan, b"ours", None).unwrap();
        assert_eq!((first.before, first.backup), (None, None));
        assert_eq!(workspace.write(&plan, b"ours too", None).unwrap().backup, None);
        fs::write(folder.path().join("notes/plan.md"), "theirs").unwrap();
        assert!(!workspace.is_own(&plan, &Hash::of(b"theirs")));
        let written = workspace.write(&plan, b"again", None).unwrap();
        assert_eq!(workspace.text(&written.backup.unwrap()).unwrap(), "theirs");
        assert!(workspace.is_own(&plan, &Hash::of(b"again")));
        let again = Workspace::open(folder.path()).unwrap();
        let ours = Hash::of(b"again");
        assert_eq!(again.write(&plan, b"more", Some(&ours)).unwrap().backup, None);
        assert_eq!(again.list().unwrap(), std::slice::from_ref(&plan));
        let gone = again.remove(&plan, None).unwrap();
        assert_eq!(again.text(&gone.backup.unwrap()).unwrap(), "more");
        assert_eq!(again.hash(&plan).unwrap(), None);
    }

    #[test]
    fn links_do_not_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        let root = folder.path();
        fs::create_dir(root.join("real")).unwrap();
        symlink(outside.path(), root.join("out")).unwrap();
        symlink("real", root.join("in")).unwrap();
        symlink(outside.path().join("secret"), root.join("plan.md")).unwrap();
        symlink(outside.path().join("new"), root.join("dangling")).unwrap();
        let workspace = Workspace::open(root).unwrap();
        for escaping in ["out/secret", "plan.md", "dangling"] {
            let told = workspace.read(&path(escaping)).unwrap_err();
            assert!(matches!(told, WorkspaceError::Escapes { .. }), "{told}");
            assert!(workspace.write(&path(escaping), b"x", None).is_err());
        }
        workspace.write(&path("in/file"), b"x", None).unwrap();
        assert_eq!(fs::read(root.join("real/file")).unwrap(), b"x");
        assert_eq!(fs::read(outside.path().join("secret")).unwrap(), b"s");
        assert!(!outside.path().join("new").exists());
        assert_eq!(workspace.list().unwrap(), [path("real/file")]);
    }
}
