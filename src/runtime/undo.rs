//! Half-done work is undone: what a call would write is kept aside until its end is in the log.
//!
//! A tool writes files first and its facts come after, so a process that dies in between leaves
//! files that no fact speaks of. When the session is opened again such a call is `Stopped`, the
//! files are put back as they were before it, and the mind may call again.

use std::fs;
use std::io;
use std::path::{Path as FilePath, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::{CallId, FileError, Hash, file};
use crate::workspace::{PRIVATE, Path, Workspace};

#[derive(Clone, Debug)]
pub(super) struct Undo {
    /// One folder for each call at work, below the session's own.
    folder: PathBuf,
    root: PathBuf,
}

/// Written last: without it nothing was kept, and the call has not begun.
#[derive(Serialize, Deserialize)]
struct Manifest {
    call: CallId,
    /// What the call may write, with what was there: the place in this list is the name of a copy.
    places: Vec<(String, Was)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Was {
    File,
    Absent,
}

const MANIFEST: &str = "manifest.json";
const MOST: u64 = 64 << 20;

impl Undo {
    pub(super) fn of(session: &FilePath, root: &FilePath) -> Self {
        Self { folder: session.join("undo"), root: root.to_owned() }
    }

    /// What must be kept for a call that writes these: the engine keeps baselines beside programs,
    /// and what it knows of a document beside that.
    pub(super) fn places(writes: &[Path]) -> Vec<Path> {
        let baseline = |path: &&Path| path.as_str().starts_with("program/");
        let beside = writes
            .iter()
            .filter(baseline)
            .filter_map(|path| Path::new(&format!("{PRIVATE}/baseline/{}", path.name())).ok());
        let known = writes.iter().map(Workspace::record_of);
        writes.iter().cloned().chain(beside).chain(known).collect()
    }

    /// Keeps what is there now in the places that the call may write. Returns when it is safe.
    pub(super) fn keep(&self, call: &CallId, writes: &[Path]) -> Result<(), FileError> {
        if writes.is_empty() {
            return Ok(());
        }
        let folder = self.folder_of(call);
        file::create_folder(&folder)?;
        let mut manifest = Manifest { call: call.clone(), places: Vec::new() };
        for (at, path) in writes.iter().enumerate() {
            let copy = folder.join(at.to_string());
            let was = match file::read(&self.root.join(path.as_std()), MOST) {
                Ok(bytes) => {
                    fs::write(&copy, bytes).map_err(FileError::at("write", &copy))?;
                    let synced = fs::File::open(&copy).and_then(|file| file.sync_all());
                    synced.map_err(FileError::at("write", &copy))?;
                    Was::File
                }
                Err(error) if error.is_missing() => Was::Absent,
                Err(error) => return Err(error),
            };
            manifest.places.push((path.to_string(), was));
        }
        let bytes = serde_json::to_vec(&manifest).unwrap_or_default();
        file::replace(&folder.join(MANIFEST), &bytes, &folder.join("staging"), "tool-write")
    }

    /// The end of the call is in the log: what it wrote stays.
    pub(super) fn forget(&self, call: &CallId) {
        let _ = fs::remove_dir_all(self.folder_of(call));
    }

    /// Puts back what calls without an end may have written; returns the places that had changed.
    pub(super) fn restore(
        &self,
        ended: impl Fn(&CallId) -> bool,
    ) -> Result<Vec<String>, FileError> {
        let mut restored = Vec::new();
        for folder in self.kept()? {
            let manifest = fs::read(folder.join(MANIFEST)).ok();
            let manifest = manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let manifest = manifest.filter(|manifest: &Manifest| !ended(&manifest.call));
            for (at, (place, was)) in manifest.iter().flat_map(|m| m.places.iter().enumerate()) {
                let Ok(path) = Path::new(place) else { continue };
                if self.put_back(&folder, at, &path, *was)? {
                    restored.push(place.clone());
                }
            }
            fs::remove_dir_all(&folder).map_err(FileError::at("remove", &folder))?;
        }
        Ok(restored)
    }

    fn put_back(
        &self,
        folder: &FilePath,
        at: usize,
        path: &Path,
        was: Was,
    ) -> Result<bool, FileError> {
        let place = self.root.join(path.as_std());
        let now = file::read(&place, MOST).ok();
        match was {
            Was::File => {
                let bytes = file::read(&folder.join(at.to_string()), MOST)?;
                if now.as_ref() == Some(&bytes) {
                    return Ok(false);
                }
                file::replace(&place, &bytes, &folder.join("staging"), "tool-write")?;
            }
            Was::Absent if now.is_none() => return Ok(false),
            Was::Absent => fs::remove_file(&place).map_err(FileError::at("remove", &place))?,
        }
        Ok(true)
    }

    fn kept(&self) -> Result<Vec<PathBuf>, FileError> {
        let listed = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            listed => listed.map_err(FileError::at("list", &self.folder))?,
        };
        let mut folders: Vec<_> = listed.flatten().map(|item| item.path()).collect();
        folders.sort();
        Ok(folders)
    }

    fn folder_of(&self, call: &CallId) -> PathBuf {
        self.folder.join(Hash::of(call.as_str().as_bytes()).short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_an_end_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let read = |name: &str| fs::read_to_string(root.join(name)).ok();
        let paths = ["program/a.toml", "new.md"].map(|path| Path::new(path).unwrap());
        for (ended, a, new) in [(false, Some("old"), None), (true, Some("half"), Some("half"))] {
            fs::create_dir_all(root.join("program")).unwrap();
            fs::write(root.join("program/a.toml"), "old").unwrap();
            let undo = Undo::of(&root.join("session"), root);
            undo.keep(&CallId::from("c1"), &paths).unwrap();
            fs::write(root.join("program/a.toml"), "half").unwrap();
            fs::write(root.join("new.md"), "half").unwrap();
            let restored = undo.restore(|_| ended).unwrap();
            assert_eq!(restored.len(), if ended { 0 } else { 2 });
            assert_eq!((read("program/a.toml").as_deref(), read("new.md").as_deref()), (a, new));
            assert_eq!(undo.restore(|_| false).unwrap(), Vec::<String>::new(), "nothing is kept");
        }
    }
}
