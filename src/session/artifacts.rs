//! The folder of artifacts: each a file named by the hash of its bytes, safe before its fact.

use std::fs;
use std::path::{Path, PathBuf};

use super::artifact::Artifact;
use crate::base::{ArtifactId, FileError, Hash, crash, file};

/// From this size on, bytes are an artifact and not part of a fact.
pub const ARTIFACT_FROM: usize = 16 * 1024;

/// The most that is read back: a longer file is not one of ours.
const MOST: u64 = 1 << 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifacts {
    folder: PathBuf,
}

impl Artifacts {
    /// The artifacts of the session in this folder. Nothing is made until something is put.
    pub fn of(session: &Path) -> Self {
        Self { folder: session.join("artifacts") }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes what a killed process had begun to write. Only for whoever holds the log.
    pub fn sweep(&self) {
        let _ = fs::remove_dir_all(self.folder.join("staging"));
    }

    /// Keeps bytes, and returns what a fact names them by. Putting them twice is the same.
    pub fn put(
        &self,
        kind: impl Into<String>,
        headline: impl Into<String>,
        bytes: &[u8],
    ) -> Result<Artifact, FileError> {
        let hash = ArtifactId::from(Hash::of(bytes).as_str());
        let path = self.folder.join(hash.as_str());
        if self.read(&hash).is_err() {
            file::replace(&path, bytes, &self.folder.join("staging"), "artifact-write")?;
        }
        crash::reach("artifact-fact");
        Ok(Artifact { kind: kind.into(), hash, headline: headline.into() })
    }

    /// Reads bytes back; a file that is not what its name says is refused.
    pub fn read(&self, id: &ArtifactId) -> Result<Vec<u8>, FileError> {
        let refuse = |why: &str| {
            let error = std::io::Error::new(std::io::ErrorKind::InvalidData, why);
            Err(FileError::new("read the artifact", &self.folder.join(id.as_str()), error))
        };
        if !Hash::is_name(id.as_str()) {
            return refuse("its name is not a hash");
        }
        let bytes = file::read(&self.folder.join(id.as_str()), MOST)?;
        if Hash::of(&bytes).as_str() != id.as_str() {
            return refuse("its bytes have another hash than its name");
        }
        Ok(bytes)
    }

    /// Reads a text back.
    pub fn text(&self, id: &ArtifactId) -> Result<String, FileError> {
        let bytes = self.read(id)?;
        String::from_utf8(bytes).map_err(|error| {
            let error = std::io::Error::new(std::io::ErrorKind::InvalidData, error);
            FileError::new("read the artifact", &self.folder.join(id.as_str()), error)
        })
    }

    /// The artifacts that are there, in order of their names.
    pub fn list(&self) -> Result<Vec<ArtifactId>, FileError> {
        let mut ids = Vec::new();
        let listed = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(ids),
            listed => listed.map_err(FileError::at("list", &self.folder))?,
        };
        for item in listed {
            let item = item.map_err(FileError::at("list", &self.folder))?;
            let name = item.file_name().to_string_lossy().into_owned();
            ids.extend(Hash::is_name(&name).then(|| ArtifactId::from(name)));
        }
        ids.sort();
        Ok(ids)
    }

    /// Makes all artifacts of another session readable here: shared if the disk can, else copied.
    pub(super) fn take_from(&self, other: &Self) -> Result<(), FileError> {
        let ids = other.list()?;
        if ids.is_empty() {
            return Ok(());
        }
        file::create_folder(&self.folder)?;
        for id in ids {
            let from = other.folder.join(id.as_str());
            let to = self.folder.join(id.as_str());
            if to.exists() || fs::hard_link(&from, &to).is_ok() {
                continue;
            }
            file::replace(&to, &other.read(&id)?, &self.folder.join("staging"), "artifact-write")?;
        }
        file::sync_folder(&self.folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_or_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::of(folder.path());
        assert_eq!(artifacts.list().unwrap(), []);
        let artifact = artifacts.put("text", "a word", b"word").unwrap();
        assert_eq!(artifacts.put("text", "a word", b"word").unwrap(), artifact);
        assert_eq!(artifacts.text(&artifact.hash).unwrap(), "word");
        assert_eq!(artifacts.list().unwrap(), std::slice::from_ref(&artifact.hash));
        fs::write(artifacts.folder().join(artifact.hash.as_str()), "sword").unwrap();
        assert!(artifacts.read(&artifact.hash).unwrap_err().to_string().contains("another hash"));
        artifacts.put("text", "a word", b"word").unwrap(); // Put again, it is whole again.
        assert_eq!(artifacts.read(&artifact.hash).unwrap(), b"word");
        let escaping = ArtifactId::from("../log.jsonl");
        assert!(artifacts.read(&escaping).unwrap_err().to_string().contains("not a hash"));
    }
}
