//! Files that are whole or absent, and errors that say what happened, where, and what to do.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::crash;
use super::hash::Hash;

/// Tells apart the files that threads stage at the same time.
static STAGED: AtomicU64 = AtomicU64::new(0);

/// A file could not be read or written. Displays what, where and why, then a hint.
#[derive(Debug)]
pub struct FileError {
    /// `read`, `write`, `create` …
    pub verb: &'static str,
    pub path: PathBuf,
    pub source: io::Error,
}

impl FileError {
    pub fn new(verb: &'static str, path: &Path, source: io::Error) -> Self {
        Self { verb, path: path.to_owned(), source }
    }

    /// For `map_err`.
    pub fn at(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { verb, path, source }
    }

    /// What a person may do about it.
    pub fn hint(&self) -> &'static str {
        match self.source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free some space on that disk and go on with `pilotfish resume`; nothing was lost"
            }
            io::ErrorKind::FileTooLarge => "it is larger than what is allowed here",
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                "make it accessible for you, or choose another folder with `--workspace`"
            }
            io::ErrorKind::NotFound => "look whether the path is right",
            io::ErrorKind::InvalidData => "it is not what it should be: restore it, or remove it",
            _ => "look at the disk and the path, then try again",
        }
    }

    pub fn is_missing(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, path, source } = self;
        write!(f, "cannot {verb} `{}`: {source}\n hint: {}", path.display(), self.hint())
    }
}

impl std::error::Error for FileError {}

/// Puts these bytes at `path`, all of them or none, whatever happens to the process meanwhile.
///
/// The bytes wait in `staging`, a folder of the same disk, until they are safe; `point` is the
/// moment between that and the exchange. What was there keeps its permissions.
pub fn replace(path: &Path, bytes: &[u8], staging: &Path, point: &str) -> Result<(), FileError> {
    // A bare name has an empty parent, which is no folder.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    create_folder(folder)?;
    create_folder(staging)?;
    let name = Hash::of(path.as_os_str().as_encoded_bytes());
    let count = STAGED.fetch_add(1, Ordering::Relaxed);
    let staged = staging.join(format!("{}-{}-{count}", name.short(), std::process::id()));
    let result = stage(&staged, path, bytes).and_then(|()| {
        crash::reach(point);
        exchange(&staged, path, bytes)
    });
    if result.is_err() {
        let _ = fs::remove_file(&staged);
    }
    result?;
    sync_folder(folder)
}

fn stage(staged: &Path, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = File::create(staged).map_err(FileError::at("write", path))?;
    file.write_all(bytes).map_err(FileError::at("write", path))?;
    if let Ok(was) = fs::metadata(path) {
        file.set_permissions(was.permissions()).map_err(FileError::at("write", path))?;
    }
    file.sync_all().map_err(FileError::at("write", path))
}

fn exchange(staged: &Path, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    match fs::rename(staged, path) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            // A folder of another disk: the bytes must wait beside their place after all.
            let beside = path.with_extension(format!("new-{}", std::process::id()));
            stage(&beside, path, bytes)?;
            let _ = fs::remove_file(staged);
            fs::rename(&beside, path).map_err(FileError::at("write", path))
        }
        renamed => renamed.map_err(FileError::at("write", path)),
    }
}

/// Makes the names in a folder as safe as the files.
pub fn sync_folder(folder: &Path) -> Result<(), FileError> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(FileError::at("write", folder))
}

pub fn create_folder(folder: &Path) -> Result<(), FileError> {
    fs::create_dir_all(folder).map_err(FileError::at("create", folder))
}

/// Reads a regular file of at most `most` bytes. A pipe or a device would block for ever.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let wrong =
        |kind: io::ErrorKind, why: String| FileError::new("read", path, io::Error::new(kind, why));
    let about = fs::metadata(path).map_err(FileError::at("read", path))?;
    if !about.is_file() {
        return Err(wrong(io::ErrorKind::InvalidInput, "it is not a regular file".into()));
    }
    if about.len() > most {
        let why = format!("{} bytes, at most {most} are read", about.len());
        return Err(wrong(io::ErrorKind::FileTooLarge, why));
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    let file = File::open(path).map_err(FileError::at("read", path))?;
    file.take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(FileError::at("read", path))?;
    if bytes.len() as u64 > most {
        let why = format!("it grew beyond {most} bytes while it was read");
        return Err(wrong(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/file.txt");
        let staging = folder.path().join("staging");
        replace(&path, b"one", &staging, "tool-write").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        replace(&path, b"two", &staging, "tool-write").unwrap();
        assert_eq!(read(&path, 10).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(&staging).unwrap().count(), 0);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("big");
        fs::write(&path, [0; 9]).unwrap();
        let told = read(&path, 8).unwrap_err().to_string();
        assert!(told.contains("9 bytes, at most 8") && told.contains("hint:"), "{told}");
        assert!(read(folder.path(), 8).unwrap_err().to_string().contains("not a regular file"));
        assert!(read(&folder.path().join("none"), 8).unwrap_err().is_missing());
    }
}
