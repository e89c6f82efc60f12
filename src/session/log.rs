//! The append-only log: a fact is on the disk before anything it lets happen begins.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;

use super::entry::{Author, Entry};
use super::error::LogError;
use super::event::Event;
use super::scan::Scan;
use crate::base::{FileError, Finding, Hash, Time, crash, file};

pub(super) const FILE: &str = "log.jsonl";
const TORN: &str = "log.torn";
const LOCK: &str = "log.lock";

/// The log of one session, open for writing. There is one at a time, in any process.
#[derive(Debug)]
pub struct Log {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    /// Held as long as the log is open; the system lets go of it however the process ends.
    _lock: File,
    entries: Vec<Arc<Entry>>,
    last: Hash,
    /// How many bytes are known to be whole lines on the disk.
    whole: u64,
    /// Why no more facts are taken: what the disk holds is no longer known.
    closed: Option<&'static str>,
}

impl Log {
    /// Makes the folder and an empty log in it.
    pub fn create(folder: &Path) -> Result<Self, LogError> {
        if folder.join(FILE).exists() {
            return Err(LogError::Exists { folder: folder.to_owned() });
        }
        file::create_folder(folder)?;
        let log = Self::open_at(folder, OpenOptions::new().create(true))?.0;
        file::sync_folder(folder)?;
        if let Some(parent) = folder.parent() {
            file::sync_folder(parent)?;
        }
        Ok(log)
    }

    /// Opens a log to go on with it. A torn tail is moved to `log.torn` and told.
    pub fn open(folder: &Path) -> Result<(Self, Vec<Finding>), LogError> {
        Self::open_at(folder, &mut OpenOptions::new())
    }

    fn open_at(folder: &Path, options: &mut OpenOptions) -> Result<(Self, Vec<Finding>), LogError> {
        let path = folder.join(FILE);
        let opened = options.read(true).append(true).open(&path);
        let file = opened.map_err(FileError::at("open", &path))?;
        let lock = lock(folder)?;
        let bytes = fs::read(&path).map_err(FileError::at("read", &path))?;
        let (scan, broken) = Scan::of(&bytes);
        if let Some((line, why)) = broken {
            return Err(LogError::Broken { log: path, line, why });
        }
        let mut findings = Vec::new();
        if scan.whole < bytes.len() {
            findings.push(repair(folder, &file, scan.whole as u64, &bytes[scan.whole..])?);
        }
        let log = Self {
            folder: folder.to_owned(),
            path,
            file,
            _lock: lock,
            entries: scan.entries,
            last: scan.last,
            whole: scan.whole as u64,
            closed: None,
        };
        Ok((log, findings))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// The number of the next fact.
    pub fn next_seq(&self) -> u64 {
        self.entries.len() as u64
    }

    pub fn append(&mut self, at: Time, by: Author, event: Event) -> Result<Arc<Entry>, LogError> {
        let mut entries = self.append_all(at, [(by, event)])?;
        Ok(entries.remove(0))
    }

    /// Appends facts with one write and one sync: when this returns, they have happened.
    ///
    /// If it fails, none of them has, and the log is as it was; only when even that cannot be
    /// made sure does it take no more, and the next `open` repairs it.
    pub fn append_all(
        &mut self,
        at: Time,
        facts: impl IntoIterator<Item = (Author, Event)>,
    ) -> Result<Vec<Arc<Entry>>, LogError> {
        if let Some(hint) = self.closed {
            return Err(LogError::Closed { log: self.path.clone(), hint });
        }
        let (mut entries, mut lines, mut last) = (Vec::new(), String::new(), self.last.clone());
        for (seq, (by, event)) in (self.next_seq()..).zip(facts) {
            let entry = Entry { seq, at, by, prev: last, event };
            let line = entry.to_line();
            last = Hash::of(line.as_bytes());
            lines.push_str(&line);
            lines.push('\n');
            entries.push(Arc::new(entry));
        }
        if entries.is_empty() {
            return Ok(entries);
        }
        self.write(lines.as_bytes())?;
        self.whole += lines.len() as u64;
        self.last = last;
        self.entries.extend(entries.iter().cloned());
        Ok(entries)
    }

    fn write(&mut self, lines: &[u8]) -> Result<(), LogError> {
        crash::reach("before-append");
        crash::reach_after("append-torn", || {
            let _ = (&self.file).write_all(&lines[..lines.len() / 2]);
        });
        let written = self.file.write_all(lines).and_then(|()| {
            crash::reach("append-sync");
            self.file.sync_data()
        });
        let Err(error) = written else { return Ok(()) };
        let error = FileError::new("append to", &self.path, error);
        let undone = self.file.set_len(self.whole).and_then(|()| self.file.sync_data());
        if undone.is_err() {
            self.closed = Some(error.hint());
        }
        Err(error.into())
    }
}

/// Takes the lock, and writes into it who has it.
///
/// A process that is killed while it starts another leaves the lock to that one until its new
/// program begins, which is at once: a lock whose owner is gone is worth waiting for.
fn lock(folder: &Path) -> Result<File, LogError> {
    let path = folder.join(LOCK);
    let mut options = OpenOptions::new();
    let opened = options.create(true).truncate(false).read(true).write(true).open(&path);
    let mut lock = opened.map_err(FileError::at("open", &path))?;
    let taken = match lock.try_lock() {
        Err(TryLockError::WouldBlock) if is_gone(&mut lock) => lock.lock(),
        Err(TryLockError::WouldBlock) => {
            return Err(LogError::Locked { folder: folder.to_owned() });
        }
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    taken.map_err(FileError::at("lock", &path))?;
    // Without a name in it, it is as good a lock: nobody waits for it.
    let _ = lock.rewind();
    let _ = lock.set_len(0);
    let _ = lock.write_all(process::id().to_string().as_bytes());
    Ok(lock)
}

/// Whether the process that wrote its id here has ended. Where that cannot be told it has not.
fn is_gone(lock: &mut File) -> bool {
    let mut owner = String::new();
    let read = lock.read_to_string(&mut owner).is_ok();
    if !read || owner.parse::<u32>().is_err() || !Path::new("/proc/self").exists() {
        return false;
    }
    let Ok(about) = fs::read_to_string(format!("/proc/{owner}/stat")) else { return true };
    // The state follows the name in parentheses: a zombie only waits to be counted.
    about.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']))
}

/// Moves what follows the last whole line out of the way, so that no new line fuses with it.
fn repair(folder: &Path, log: &File, whole: u64, torn: &[u8]) -> Result<Finding, FileError> {
    let path = folder.join(TORN);
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    let moved = opened.and_then(|mut file| {
        file.write_all(torn)?;
        file.write_all(b"\n")?;
        file.sync_all()
    });
    moved.map_err(FileError::at("write", &path))?;
    let cut = log.set_len(whole).and_then(|()| log.sync_all());
    cut.map_err(FileError::at("repair", &folder.join(FILE)))?;
    let place = folder.join(FILE).display().to_string();
    let message = format!("the last {} bytes were torn and are now in `{TORN}`", torn.len());
    Ok(Finding::note(place, message).rule("log-tail"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Replay, State};

    fn words(text: &str) -> (Author, Event) {
        (Author::User, Event::UserSaid { text: text.into() })
    }

    fn some(folder: &Path) -> Log {
        let mut log = Log::create(folder).unwrap();
        log.append_all(Time::from_millis(1), [words("one\ntwo"), words("three")]).unwrap();
        log.append(Time::from_millis(2), Author::Agent, Event::TurnEnded).unwrap();
        log
    }

    #[test]
    fn what_is_appended_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let log = some(folder.path());
        let entries = log.entries().to_vec();
        drop(log);
        let (mut log, findings) = Log::open(folder.path()).unwrap();
        assert!(findings.is_empty());
        assert_eq!(log.entries(), entries);
        assert_eq!(log.append_all(Time::default(), []).unwrap(), []);
        assert_eq!(log.append(Time::default(), Author::User, Event::TurnEnded).unwrap().seq, 3);
    }

    #[test]
    fn a_log_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let log = some(folder.path());
        assert!(matches!(Log::open(folder.path()), Err(LogError::Locked { .. })));
        assert!(matches!(Log::create(folder.path()), Err(LogError::Exists { .. })));
        assert_eq!(Replay::open(folder.path()).unwrap().0.facts(), 3);
        drop(log);
        assert!(Log::open(folder.path()).is_ok());
    }

    #[test]
    fn a_log_cut_at_any_byte_is_a_session() {
        let folder = tempfile::tempdir().unwrap();
        drop(some(folder.path()));
        let path = folder.path().join(FILE);
        let bytes = fs::read(&path).unwrap();
        for cut in 0..=bytes.len() {
            fs::write(&path, &bytes[..cut]).unwrap();
            let (log, findings) = Log::open(folder.path()).unwrap();
            let whole = bytes[..cut].split(|byte| *byte == b'\n').count() - 1;
            assert_eq!(log.entries().len(), whole, "cut at {cut}");
            let torn = cut > 0 && bytes[cut - 1] != b'\n';
            assert_eq!(findings.len(), usize::from(torn), "cut at {cut}");
            let state = State::replay(log.entries().iter().map(|entry| &**entry));
            assert_eq!(state.facts, whole as u64);
        }
        assert!(folder.path().join(TORN).exists());
    }

    #[test]
    fn a_tail_of_zeros_is_torn_and_a_changed_line_is_told() {
        let folder = tempfile::tempdir().unwrap();
        drop(some(folder.path()));
        let path = folder.path().join(FILE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}\0\0\0\0\n")).unwrap();
        assert_eq!(Log::open(folder.path()).unwrap().0.entries().len(), 3);
        fs::write(&path, text.replace("three", "threw")).unwrap();
        let told = Log::open(folder.path()).unwrap_err();
        assert!(matches!(told, LogError::Broken { line: 3, .. }), "{told}");
        let (replay, findings) = Replay::open(folder.path()).unwrap();
        assert_eq!((replay.facts(), findings.len()), (2, 1));
        assert!(findings[0].place.ends_with(":3"));
    }
}
