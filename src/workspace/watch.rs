//! Watching the files: tells what somebody else has changed, once things are quiet again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use super::error::WorkspaceError;
use super::path::Path;
use super::root::{Workspace, is_left_out};
use crate::base::{FileError, Hash};

/// An editor writes a file in several steps: it is looked at after so much quiet, or after so
/// much time if there is no quiet.
const QUIET: Duration = Duration::from_millis(80);
const AT_MOST: Duration = Duration::from_secs(1);

/// Documents and programs are small; what is larger is no concern of a watcher.
const MOST: u64 = 4 << 20;

/// Reports that wait for a listener.
const WAITING: usize = 64;

/// A file that is another one now, and not by our hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub path: Path,
    /// `None`: it is gone.
    pub hash: Option<Hash>,
}

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watch {
    seen: mpsc::Receiver<Vec<Seen>>,
    signals: Sender<Signal>,
}

enum Signal {
    Paths(Vec<PathBuf>),
    /// The system lost events: everything is looked at.
    All,
    End,
}

impl Workspace {
    /// Watches all files outside of `.pilotfish` and `.git`.
    pub fn watch(&self) -> Result<Watch, WorkspaceError> {
        let (signals, raw) = channel();
        let sender = signals.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let signal = match event {
                Ok(event) if event.need_rescan() => Signal::All,
                Ok(event) if event.kind.is_access() => return,
                Ok(event) => Signal::Paths(event.paths),
                Err(_) => Signal::All,
            };
            let _ = sender.send(signal);
        });
        let failed = |error: notify::Error| {
            FileError::new("watch", self.root(), std::io::Error::other(error))
        };
        let mut watcher = watcher.map_err(failed)?;
        watcher.watch(self.root(), RecursiveMode::NonRecursive).map_err(failed)?;
        let (sender, seen) = mpsc::channel(WAITING);
        let mut eyes = Eyes { workspace: self.clone(), watcher, known: BTreeMap::new() };
        eyes.look_at_all();
        let started = thread::Builder::new().name("watch".into()).spawn(move || {
            eyes.watch(&raw, &sender);
        });
        started.map_err(FileError::at("watch", self.root()))?;
        Ok(Watch { seen, signals })
    }
}

impl Watch {
    /// Waits for the next changes; `None` if there will be none.
    pub async fn next(&mut self) -> Option<Vec<Seen>> {
        self.seen.recv().await
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.signals.send(Signal::End);
    }
}

struct Eyes {
    workspace: Workspace,
    watcher: RecommendedWatcher,
    /// The files as they were last seen.
    known: BTreeMap<Path, Hash>,
}

impl Eyes {
    fn watch(&mut self, raw: &Receiver<Signal>, sender: &mpsc::Sender<Vec<Seen>>) {
        while let Some((paths, all)) = collect(raw) {
            let mut seen = if all { self.look_at_all() } else { Vec::new() };
            for path in paths {
                self.look_at(&path, &mut seen);
            }
            if !seen.is_empty() && sender.blocking_send(seen).is_err() {
                return;
            }
        }
    }

    fn look_at_all(&mut self) -> Vec<Seen> {
        let mut seen = Vec::new();
        let root = self.workspace.root().to_owned();
        let items = fs::read_dir(&root).map(|items| items.flatten().collect());
        let items: Vec<fs::DirEntry> = items.unwrap_or_default();
        for item in &items {
            self.look_at(&item.path(), &mut seen);
        }
        let gone = self.known.keys().filter(|path| !self.workspace.exists(path));
        let gone: Vec<PathBuf> = gone.map(|path| root.join(path.as_str())).collect();
        for place in &gone {
            self.look_at(place, &mut seen);
        }
        seen
    }

    fn look_at(&mut self, place: &FilePath, seen: &mut Vec<Seen>) {
        let Some(name) = place.strip_prefix(self.workspace.root()).ok().and_then(FilePath::to_str)
        else {
            return;
        };
        let Ok(path) = Path::new(name) else { return };
        if path.parts().next().is_some_and(is_left_out) {
            return;
        }
        let about = fs::symlink_metadata(place);
        if about.as_ref().is_ok_and(fs::Metadata::is_dir) {
            if path.parts().count() == 1 {
                // A folder that cannot be watched is one that nobody is told of: no more.
                let _ = self.watcher.watch(place, RecursiveMode::Recursive);
            }
            let items = fs::read_dir(place).map(|items| items.flatten().collect());
            let items: Vec<fs::DirEntry> = items.unwrap_or_default();
            for item in &items {
                self.look_at(&item.path(), seen);
            }
            return;
        }
        let is_watched = about.as_ref().is_ok_and(|about| about.is_file() && about.len() <= MOST);
        let hash = if is_watched { self.workspace.hash(&path).ok().flatten() } else { None };
        let was = match &hash {
            Some(hash) => self.known.insert(path.clone(), hash.clone()),
            None => self.known.remove(&path),
        };
        let is_own = hash.as_ref().is_some_and(|hash| self.workspace.is_own(&path, hash));
        if was != hash && !is_own && !seen.iter().any(|seen| seen.path == path) {
            seen.push(Seen { path, hash });
        }
    }
}

/// The places of which something was heard until it was quiet; nothing at the end.
fn collect(raw: &Receiver<Signal>) -> Option<(BTreeSet<PathBuf>, bool)> {
    let (mut paths, mut all) = (BTreeSet::new(), false);
    let mut signal = raw.recv().ok()?;
    let end = Instant::now() + AT_MOST;
    loop {
        match signal {
            Signal::Paths(more) => paths.extend(more),
            Signal::All => all = true,
            Signal::End => return None,
        }
        let left = end.saturating_duration_since(Instant::now()).min(QUIET);
        signal = match raw.recv_timeout(left) {
            Ok(signal) => signal,
            Err(RecvTimeoutError::Timeout) => return Some((paths, all)),
            Err(RecvTimeoutError::Disconnected) => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        Path::new(text).unwrap()
    }

    #[test]
    fn the_work_of_other_hands_is_told_and_ours_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        let root = workspace.root().to_owned();
        workspace.write(&path("plan.md"), b"ours", None).unwrap();
        let mut watch = workspace.watch().unwrap();
        let mut next = || watch.seen.blocking_recv().unwrap();
        // 1. A write of ours, a private file, and a hand's edit: only the last is told.
        workspace.write(&path("lessons.md"), b"ours", None).unwrap();
        fs::write(workspace.private("note"), "x").unwrap();
        fs::write(root.join("plan.md"), "theirs").unwrap();
        let hash = Some(Hash::of(b"theirs"));
        assert_eq!(next(), [Seen { path: path("plan.md"), hash }]);
        // 2. A folder that is new, and a file in it; then one deeper.
        fs::create_dir_all(root.join("program/old")).unwrap();
        fs::write(root.join("program/prefill.toml"), "p").unwrap();
        let hash = Some(Hash::of(b"p"));
        assert_eq!(next(), [Seen { path: path("program/prefill.toml"), hash }]);
        fs::write(root.join("program/old/x.toml"), "p").unwrap();
        let hash = Some(Hash::of(b"p"));
        assert_eq!(next(), [Seen { path: path("program/old/x.toml"), hash }]);
        // 3. Touched, it is the same; replaced by way of another name, it is not; then it goes.
        fs::write(root.join("plan.md"), "theirs").unwrap();
        fs::write(root.join(".plan.md.swp"), "more").unwrap();
        fs::rename(root.join(".plan.md.swp"), root.join("plan.md")).unwrap();
        let hash = Some(Hash::of(b"more"));
        assert_eq!(next(), [Seen { path: path("plan.md"), hash }]);
        fs::remove_file(root.join("plan.md")).unwrap();
        assert_eq!(next(), [Seen { path: path("plan.md"), hash: None }]);
        // 4. Dropped, nothing more comes.
        drop(watch);
        fs::write(root.join("plan.md"), "again").unwrap();
    }
}
