//! Reading a log without writing: every fact in order, its chain of hashes verified.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry::Entry;
use super::error::LogError;
use super::log::FILE;
use super::state::State;
use crate::base::{FileError, Finding, Hash};

/// The facts of a session, live or recorded, as they stood when it was opened.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    entries: Vec<Arc<Entry>>,
    /// The length in bytes of the lines up to and with each fact.
    ends: Vec<usize>,
}

impl Replay {
    /// Reads the log in this folder. What is torn or broken is told, and all before it is there.
    pub fn open(folder: &Path) -> Result<(Self, Vec<Finding>), LogError> {
        let log = folder.join(FILE);
        let bytes = fs::read(&log).map_err(FileError::at("read", &log))?;
        let (scan, broken) = Scan::of(&bytes);
        let mut findings = Vec::new();
        if let Some((line, why)) = broken {
            let place = format!("{}:{line}", log.display());
            let hint = "the facts before it are whole; `pilotfish fork` goes on from there";
            findings.push(Finding::error(place, why).rule("log-chain").hint(hint));
        } else if scan.whole < bytes.len() {
            let place = format!("{}:{}", log.display(), scan.entries.len() + 1);
            let torn = format!("the last {} bytes are torn", bytes.len() - scan.whole);
            let hint = "the next `pilotfish resume` repairs it";
            findings.push(Finding::warning(place, torn).rule("log-tail").hint(hint));
        }
        Ok((Self { entries: scan.entries, ends: scan.ends }, findings))
    }

    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// How many facts there are.
    pub fn facts(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The state after all facts up to and with this one.
    pub fn state_at(&self, seq: u64) -> State {
        State::replay(self.entries.iter().map(|entry| &**entry).take_while(|e| e.seq <= seq))
    }

    pub fn state(&self) -> State {
        self.state_at(u64::MAX)
    }

    /// The length in bytes of the log up to and with this fact.
    pub(super) fn end_of(&self, seq: u64) -> Option<usize> {
        self.ends.get(usize::try_from(seq).ok()?).copied()
    }
}

/// What the bytes of a log hold.
#[derive(Default)]
pub(super) struct Scan {
    pub entries: Vec<Arc<Entry>>,
    pub ends: Vec<usize>,
    /// The hash of the last line.
    pub last: Hash,
    /// The length of the whole lines; what follows is torn.
    pub whole: usize,
}

impl Scan {
    /// Reads lines until the end, a torn tail, or a line (counted from 1) that breaks the chain.
    ///
    /// A last line that is no JSON is a torn tail too: after a power cut a file may have its new
    /// length without its new bytes. A whole line in the wrong place is not: somebody wrote it.
    pub(super) fn of(bytes: &[u8]) -> (Self, Option<(u64, String)>) {
        let mut scan = Self::default();
        while let Some(length) = bytes[scan.whole..].iter().position(|byte| *byte == b'\n') {
            let line = &bytes[scan.whole..scan.whole + length];
            let end = scan.whole + length + 1;
            let seq = scan.entries.len() as u64;
            let entry = match read_line(line) {
                Ok(entry) => entry,
                Err(_) if end == bytes.len() => break,
                Err(why) => return (scan, Some((seq + 1, why))),
            };
            if entry.seq != seq {
                let why = format!("it says that it is fact {}, it should be fact {seq}", entry.seq);
                return (scan, Some((seq + 1, why)));
            }
            if entry.prev != scan.last {
                let why = "the line before it is not the one it was written after".to_owned();
                return (scan, Some((seq + 1, why)));
            }
            scan.last = Hash::of(line);
            scan.whole = end;
            scan.ends.push(end);
            scan.entries.push(Arc::new(entry));
        }
        (scan, None)
    }
}

fn read_line(line: &[u8]) -> Result<Entry, String> {
    let text = str::from_utf8(line).map_err(|error| format!("it is not UTF-8: {error}"))?;
    Entry::parse(text).map_err(|error| format!("it is not a fact: {error}"))
}

/// Where the log of a session folder is.
pub(super) fn log_of(folder: &Path) -> PathBuf {
    folder.join(FILE)
}
