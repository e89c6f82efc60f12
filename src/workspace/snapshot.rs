//! A tree of files frozen by hash: what a gate judges and what an undo brings back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::WorkspaceError;
use super::path::Path;
use super::root::{TIMES, Workspace, Written, is_left_out};
use crate::base::{FileError, Hash, Hasher, file};

/// How much a workspace may hold to be frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub files: usize,
    pub file_bytes: u64,
    pub total_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { files: 4096, file_bytes: 64 << 20, total_bytes: 256 << 20 }
    }
}

/// What a name in the tree stands for. Links and devices are listed, never followed or opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Node {
    File {
        hash: Hash,
        bytes: u64,
    },
    Link {
        to: String,
    },
    /// `pipe`, `socket`, `device` or `name` (one that is not UTF-8, or no path of a workspace).
    Special {
        what: String,
    },
}

/// A frozen tree. Cheap to clone; equal hashes are equal trees.
#[derive(Clone, Debug)]
pub struct Snapshot {
    hash: Hash,
    nodes: Arc<BTreeMap<Path, Node>>,
    objects: Objects,
}

/// Where the bytes are.
#[derive(Clone, Debug, Default)]
struct Objects {
    folder: Option<PathBuf>,
    memory: BTreeMap<Hash, Arc<[u8]>>,
}

impl Snapshot {
    /// Freezes what the workspace holds now, without `.pilotfish` and `.git`.
    pub fn freeze(workspace: &Workspace, limits: &Limits) -> Result<Self, WorkspaceError> {
        Self::freeze_folder(workspace.root(), &workspace.private("objects"), limits)
    }

    /// Freezes any folder into any store of objects.
    pub fn freeze_folder(
        root: &FilePath,
        objects: &FilePath,
        limits: &Limits,
    ) -> Result<Self, WorkspaceError> {
        let mut walk = Walk { limits, objects, nodes: BTreeMap::new(), total: 0, stored: 0 };
        walk.folder(root, "")?;
        let store = Objects { folder: Some(objects.to_owned()), memory: BTreeMap::new() };
        let (nodes, mut stored) = (walk.nodes, walk.stored);
        let snapshot = Self::of(nodes, store);
        stored += usize::from(put(objects, &snapshot.manifest())?.1);
        if stored > 0 {
            file::sync_folder(objects)?;
        }
        Ok(snapshot)
    }

    /// Opens a snapshot that was frozen before.
    pub fn open(workspace: &Workspace, hash: &Hash) -> Result<Self, WorkspaceError> {
        Self::open_in(&workspace.private("objects"), hash)
    }

    pub fn open_in(objects: &FilePath, hash: &Hash) -> Result<Self, WorkspaceError> {
        let store = Objects { folder: Some(objects.to_owned()), memory: BTreeMap::new() };
        let damaged = |why: String| WorkspaceError::Damaged { snapshot: hash.clone(), why };
        let bytes = store.read(hash).map_err(|why| damaged(format!("its list: {why}")))?;
        let nodes = serde_json::from_slice(&bytes).map_err(|why| damaged(why.to_string()))?;
        Ok(Self { hash: hash.clone(), nodes: Arc::new(nodes), objects: store })
    }

    /// A tree that is on no disk: for tests, and for candidates that a search tries.
    pub fn in_memory<'a>(files: impl IntoIterator<Item = (Path, &'a [u8])>) -> Self {
        let empty = Self::of(BTreeMap::new(), Objects::default());
        files.into_iter().fold(empty, |tree, (path, bytes)| tree.with(path, bytes))
    }

    /// The same tree with one file of other content; its bytes stay in memory.
    pub fn with(&self, path: Path, bytes: &[u8]) -> Self {
        let mut objects = self.objects.clone();
        let hash = Hash::of(bytes);
        objects.memory.insert(hash.clone(), bytes.into());
        let mut nodes = (*self.nodes).clone();
        nodes.insert(path, Node::File { hash, bytes: bytes.len() as u64 });
        Self::of(nodes, objects)
    }

    fn of(nodes: BTreeMap<Path, Node>, objects: Objects) -> Self {
        let mut snapshot = Self { hash: Hash::default(), nodes: Arc::new(nodes), objects };
        snapshot.hash = Hash::of(&snapshot.manifest());
        snapshot
    }

    fn manifest(&self) -> Vec<u8> {
        serde_json::to_vec(&*self.nodes).expect("a list of paths and hashes is plain JSON")
    }

    pub fn hash(&self) -> &Hash {
        &self.hash
    }

    pub fn nodes(&self) -> &BTreeMap<Path, Node> {
        &self.nodes
    }

    /// The regular files, in order.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &Hash)> {
        self.nodes.iter().filter_map(|(path, node)| match node {
            Node::File { hash, .. } => Some((path, hash)),
            _ => None,
        })
    }

    pub fn hash_of(&self, path: &Path) -> Option<&Hash> {
        match self.nodes.get(path)? {
            Node::File { hash, .. } => Some(hash),
            _ => None,
        }
    }

    /// One hash of the files that a claim depends on, so that others may change.
    pub fn digest(&self, depends: impl Fn(&Path) -> bool) -> Hash {
        let mut hasher = Hasher::new();
        for (path, hash) in self.files().filter(|(path, _)| depends(path)) {
            hasher.part(path.as_str().as_bytes()).part(hash.as_str().as_bytes());
        }
        hasher.finish()
    }

    /// The bytes of a file as they were, verified.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, WorkspaceError> {
        let Some(hash) = self.hash_of(path) else {
            let (path, snapshot) = (path.clone(), self.hash.clone());
            return Err(WorkspaceError::NotInSnapshot { path, snapshot });
        };
        let damaged = |why| WorkspaceError::Damaged {
            snapshot: self.hash.clone(),
            why: format!("`{path}`: {why}"),
        };
        self.objects.read(hash).map_err(damaged)
    }

    pub fn text(&self, path: &Path) -> Result<String, WorkspaceError> {
        String::from_utf8(self.read(path)?).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            WorkspaceError::NotText { path: path.clone(), at }
        })
    }

    /// Brings a file of the workspace back to what it was; what it was meanwhile is backed up.
    pub fn restore(
        &self,
        workspace: &Workspace,
        path: &Path,
        ours: Option<&Hash>,
    ) -> Result<Written, WorkspaceError> {
        workspace.write(path, &self.read(path)?, ours)
    }

    /// Writes the regular files into an empty folder: a clean room.
    pub fn copy_to(&self, folder: &FilePath) -> Result<(), WorkspaceError> {
        file::create_folder(folder)?;
        for (path, _) in self.files() {
            let place = folder.join(path.as_str());
            file::create_folder(place.parent().unwrap_or(folder))?;
            let bytes = self.read(path)?;
            fs::write(&place, bytes).map_err(FileError::at("write", &place))?;
        }
        Ok(())
    }

    /// The files that differ from those of an older snapshot: changed, added or gone.
    pub fn changed_since(&self, older: &Self) -> Vec<Path> {
        let changed = self.nodes.iter().filter(|(path, node)| older.nodes.get(path) != Some(node));
        let gone = older.nodes.keys().filter(|path| !self.nodes.contains_key(path));
        let mut paths: Vec<Path> = changed.map(|(path, _)| path).chain(gone).cloned().collect();
        paths.sort();
        paths
    }
}

impl Objects {
    fn read(&self, hash: &Hash) -> Result<Vec<u8>, String> {
        if let Some(bytes) = self.memory.get(hash) {
            return Ok(bytes.to_vec());
        }
        let Some(folder) = self.folder.as_ref().filter(|_| Hash::is_name(hash.as_str())) else {
            return Err(format!("`{}` is not kept", hash.short()));
        };
        let bytes = file::read(&folder.join(hash.as_str()), u64::MAX).map_err(|e| e.to_string())?;
        if Hash::of(&bytes) != *hash {
            return Err(format!("object `{}` has other bytes than its name says", hash.short()));
        }
        Ok(bytes)
    }
}

/// Stores bytes by hash; tells whether they were new. The caller syncs the folder.
fn put(objects: &FilePath, bytes: &[u8]) -> Result<(Hash, bool), FileError> {
    let hash = Hash::of(bytes);
    let place = objects.join(hash.as_str());
    if file::read(&place, bytes.len() as u64).is_ok_and(|kept| kept == bytes) {
        return Ok((hash, false));
    }
    let staging = objects.with_file_name("staging");
    file::replace(&place, bytes, &staging, "artifact-write")?;
    Ok((hash, true))
}

struct Walk<'a> {
    limits: &'a Limits,
    objects: &'a FilePath,
    nodes: BTreeMap<Path, Node>,
    total: u64,
    stored: usize,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &FilePath, prefix: &str) -> Result<(), WorkspaceError> {
        for item in fs::read_dir(folder).map_err(FileError::at("list", folder))? {
            let item = item.map_err(FileError::at("list", folder))?;
            let name = format!("{prefix}{}", item.file_name().to_string_lossy());
            let kind = item.file_type().map_err(FileError::at("list", &item.path()))?;
            if kind.is_dir() {
                if !is_left_out(&name) {
                    self.folder(&item.path(), &format!("{name}/"))?;
                }
                continue;
            }
            if name == TIMES {
                continue;
            }
            let plain = item.file_name().to_str().is_some();
            let node = match Path::new(&name) {
                Ok(path) if plain => (path, self.node(&item.path(), kind)?),
                // Kept by a name that is a path, so that an audit sees that something is there.
                _ => (Path::new(&odd(&name))?, Node::Special { what: "name".into() }),
            };
            self.nodes.insert(node.0, node.1);
            if self.nodes.len() > self.limits.files {
                let what = format!("more than {} files", self.limits.files);
                return Err(WorkspaceError::TooMuch { what });
            }
        }
        Ok(())
    }

    fn node(&mut self, place: &FilePath, kind: fs::FileType) -> Result<Node, WorkspaceError> {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_symlink() {
            let to = fs::read_link(place).map_err(FileError::at("read", place))?;
            return Ok(Node::Link { to: to.to_string_lossy().into_owned() });
        }
        if !kind.is_file() {
            let what = match kind {
                kind if kind.is_fifo() => "pipe",
                kind if kind.is_socket() => "socket",
                _ => "device",
            };
            return Ok(Node::Special { what: what.into() });
        }
        let about = fs::symlink_metadata(place).map_err(FileError::at("read", place))?;
        let Limits { file_bytes, total_bytes, .. } = *self.limits;
        if about.len() > file_bytes {
            let what =
                format!("`{}` has {} bytes of at most {file_bytes}", place.display(), about.len());
            return Err(WorkspaceError::TooMuch { what });
        }
        self.total += about.len();
        if self.total > total_bytes {
            let what = format!("more than {total_bytes} bytes in all");
            return Err(WorkspaceError::TooMuch { what });
        }
        let bytes = file::read(place, file_bytes)?;
        let (hash, new) = put(self.objects, &bytes)?;
        self.stored += usize::from(new);
        Ok(Node::File { hash, bytes: bytes.len() as u64 })
    }
}

fn odd(name: &str) -> String {
    format!("odd-name-{}", Hash::of(name.as_bytes()).short())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    fn path(text: &str) -> Path {
        Path::new(text).unwrap()
    }

    #[test]
    fn a_tree_is_frozen_and_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let workspace = Workspace::create(root).unwrap();
        workspace.write(&path("program/prefill.toml"), b"one", None).unwrap();
        workspace.write(&path("plan.md"), b"plan", None).unwrap();
        symlink("/etc", root.join("etc")).unwrap();
        let _socket = UnixListener::bind(root.join("socket")).unwrap();
        let before = Snapshot::freeze(&workspace, &Limits::default()).unwrap();
        assert_eq!(before.nodes()[&path("etc")], Node::Link { to: "/etc".into() });
        assert_eq!(before.nodes()[&path("socket")], Node::Special { what: "socket".into() });
        assert_eq!(before.files().count(), 2);
        let same = Snapshot::freeze(&workspace, &Limits::default()).unwrap();
        assert_eq!(same.hash(), before.hash());
        workspace.write(&path("program/prefill.toml"), b"two", None).unwrap();
        let after = Snapshot::freeze(&workspace, &Limits::default()).unwrap();
        assert_eq!(after.changed_since(&before), [path("program/prefill.toml")]);
        let plan = |path: &Path| path.as_str() == "plan.md";
        assert_eq!(after.digest(plan), before.digest(plan));
        let opened = Snapshot::open(&workspace, before.hash()).unwrap();
        assert_eq!(opened.text(&path("program/prefill.toml")).unwrap(), "one");
        opened.restore(&workspace, &path("program/prefill.toml"), None).unwrap();
        assert_eq!(workspace.text(&path("program/prefill.toml")).unwrap(), "one");
        let room = tempfile::tempdir().unwrap();
        after.copy_to(room.path()).unwrap();
        assert_eq!(fs::read(room.path().join("program/prefill.toml")).unwrap(), b"two");
        assert!(!room.path().join("etc").exists());
    }

    #[test]
    fn what_is_too_much_is_refused_and_what_is_damaged_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        for name in ["a", "b", "c"] {
            workspace.write(&path(name), name.repeat(10).as_bytes(), None).unwrap();
        }
        let refused =
            |limits: Limits| Snapshot::freeze(&workspace, &limits).unwrap_err().to_string();
        let all = Limits::default();
        assert!(refused(Limits { files: 2, ..all }).contains("more than 2 files"));
        assert!(refused(Limits { file_bytes: 9, ..all }).contains("10 bytes of at most 9"));
        assert!(refused(Limits { total_bytes: 25, ..all }).contains("25 bytes in all"));
        let snapshot = Snapshot::freeze(&workspace, &all).unwrap();
        let object =
            workspace.private("objects").join(snapshot.hash_of(&path("a")).unwrap().as_str());
        fs::write(object, "changed by a hand").unwrap();
        let told = snapshot.read(&path("a")).unwrap_err();
        assert!(matches!(told, WorkspaceError::Damaged { .. }), "{told}");
        assert!(snapshot.read(&path("d")).unwrap_err().is_missing());
        assert!(Snapshot::open(&workspace, &Hash::from("../a")).is_err());
    }

    #[test]
    fn a_candidate_needs_no_disk() {
        let base = Snapshot::in_memory([(path("a"), &b"1"[..]), (path("b"), b"2")]);
        let other = base.with(path("a"), b"3");
        assert_eq!(other.text(&path("a")).unwrap(), "3");
        assert_eq!(other.changed_since(&base), [path("a")]);
        assert_eq!(other.with(path("a"), b"1").hash(), base.hash());
    }
}
