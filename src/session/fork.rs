//! Forking: another session that shares the past up to a fact, byte for byte.

use std::fs;
use std::path::Path;

use super::artifacts::Artifacts;
use super::entry::Author;
use super::error::LogError;
use super::event::Event;
use super::log::Log;
use super::replay::{Replay, log_of};
use crate::base::{FileError, SessionId, Time, file};

/// Copies the facts up to and with `seq` into a new folder and goes on there with `Forked`.
///
/// The lines keep their bytes, so their hashes; artifacts are shared. The past may belong to a
/// session that is live, recorded, or broken after `seq`.
pub fn fork(from: &Path, seq: u64, to: &Path, at: Time) -> Result<Log, LogError> {
    let source = log_of(from);
    let (replay, _) = Replay::open(from)?;
    let Some(end) = replay.end_of(seq) else {
        return Err(LogError::Beyond { log: source, seq, facts: replay.facts() });
    };
    if log_of(to).exists() {
        return Err(LogError::Exists { folder: to.to_owned() });
    }
    let bytes = fs::read(&source).map_err(FileError::at("read", &source))?;
    Artifacts::of(to).take_from(&Artifacts::of(from))?;
    file::replace(&log_of(to), &bytes[..end], &to.join("staging"), "before-append")?;
    let _ = fs::remove_dir(to.join("staging"));
    let (mut log, _) = Log::open(to)?;
    let name = from.file_name().unwrap_or_default().to_string_lossy();
    let event = Event::Forked { from: SessionId::from(&*name), at: seq };
    log.append(at, Author::User, event)?;
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_shares_the_past_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("old"), folder.path().join("new"));
        let mut log = Log::create(&from).unwrap();
        for text in ["one", "two", "three"] {
            let event = Event::UserSaid { text: text.into() };
            log.append(Time::from_millis(7), Author::User, event).unwrap();
        }
        let artifact = Artifacts::of(&from).put("text", "word", b"word").unwrap();
        let forked = fork(&from, 1, &to, Time::from_millis(9)).unwrap();
        let past = fs::read(log_of(&from)).unwrap();
        let present = fs::read(log_of(&to)).unwrap();
        let shared = present.split_inclusive(|byte| *byte == b'\n').take(2).map(<[u8]>::len).sum();
        assert_eq!(past[..shared], present[..shared]);
        let event = Event::Forked { from: "old".into(), at: 1 };
        assert_eq!(forked.entries().last().unwrap().event, event);
        assert_eq!(Artifacts::of(&to).read(&artifact.hash).unwrap(), b"word");
        assert!(matches!(fork(&from, 0, &to, Time::default()), Err(LogError::Exists { .. })));
        let none = folder.path().join("none");
        let told = fork(&from, 3, &none, Time::default()).unwrap_err();
        assert!(matches!(told, LogError::Beyond { facts: 3, .. }));
        assert!(!none.exists());
    }
}
