//! Reading a log without writing: every fact in order, its chain of hashes verified.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry::Entry;
use super::error::LogError;
use super::log::FILE;
use super::scan::Scan;
use super::state::State;
use crate::base::{FileError, Finding};

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

/// Where the log of a session folder is.
pub(super) fn log_of(folder: &Path) -> PathBuf {
    folder.join(FILE)
}
