//! The sessions of one folder, and what a list shows of each without folding it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::artifacts::Artifacts;
use super::entry::Entry;
use super::error::LogError;
use super::event::Event;
use super::log::{FILE, Log};
use super::phase::Phase;
use super::replay::log_of;
use crate::base::{FileError, SessionId, Time};

/// A folder of sessions: `.pilotfish/sessions` of a workspace, or the recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

/// What a list shows of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    pub id: SessionId,
    pub folder: PathBuf,
    pub model: String,
    pub target: String,
    pub agent: String,
    pub phase: Phase,
    pub began: Time,
    pub last: Time,
    pub facts: u64,
    pub forked: bool,
}

impl Store {
    pub fn of(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn session(&self, id: &SessionId) -> PathBuf {
        self.folder.join(id.as_str())
    }

    pub fn create(&self, id: &SessionId) -> Result<(Log, Artifacts), LogError> {
        let folder = self.session(id);
        let log = Log::create(&folder)?;
        Ok((log, Artifacts::of(&folder)))
    }

    /// The folders that hold a log, newest name last.
    pub fn folders(&self) -> Result<Vec<PathBuf>, FileError> {
        let listed = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            listed => listed.map_err(FileError::at("list", &self.folder))?,
        };
        let paths: Result<Vec<_>, _> = listed.map(|item| item.map(|item| item.path())).collect();
        let mut folders = paths.map_err(FileError::at("list", &self.folder))?;
        folders.retain(|folder| folder.join(FILE).is_file());
        folders.sort();
        Ok(folders)
    }

    /// What is there, the one written to last first; what cannot be read is left out.
    pub fn list(&self) -> Result<Vec<Header>, FileError> {
        let folders = self.folders()?;
        let mut headers: Vec<_> = folders.iter().filter_map(|f| Header::read(f).ok()).collect();
        headers.sort_by(|a, b| (b.last, &b.id).cmp(&(a.last, &a.id)));
        Ok(headers)
    }
}

impl Header {
    /// Reads a header out of the log in this folder; only the lines that tell of it are parsed.
    pub fn read(folder: &Path) -> Result<Self, LogError> {
        let path = log_of(folder);
        let text = fs::read(&path).map_err(FileError::at("read", &path))?;
        let text = String::from_utf8_lossy(&text);
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut header = Self {
            id: SessionId::from(&*name),
            folder: folder.to_owned(),
            model: String::new(),
            target: String::new(),
            agent: String::new(),
            phase: Phase::default(),
            began: Time::default(),
            last: Time::default(),
            facts: 0,
            forked: false,
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for line in whole.lines().take(1) {
            header.begin(line);
        }
        // Counted from the end: a tail of nonsense after a power cut is passed over.
        if let Some(last) = whole.rsplit('\n').find_map(|line| Entry::parse(line).ok()) {
            (header.last, header.facts) = (last.at, last.seq + 1);
        }
        let mut entered = whole.rsplit('\n').filter(|l| l.contains(r#""type":"phase-entered""#));
        header.phase = entered.find_map(phase_of).unwrap_or_default();
        header.forked = whole.lines().any(|line| line.contains(r#""type":"forked""#));
        Ok(header)
    }

    fn begin(&mut self, line: &str) {
        let Ok(first) = Entry::parse(line) else { return };
        self.began = first.at;
        if let Event::Opened { model, target, agent, .. } = first.event {
            (self.model, self.target, self.agent) = (model, target, agent);
        }
    }
}

fn phase_of(line: &str) -> Option<Phase> {
    match Entry::parse(line).ok()?.event {
        Event::PhaseEntered { phase } => Some(phase),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Author;

    #[test]
    fn a_list_shows_what_each_session_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::of(folder.path().join("sessions"));
        assert_eq!(store.list().unwrap(), []);
        for (id, at) in [("a", 5), ("b", 3)] {
            let (mut log, _) = store.create(&SessionId::from(id)).unwrap();
            let opened = Event::Opened {
                model: format!("model-{id}"),
                target: "sim".into(),
                agent: "playbook".into(),
                seq: 512,
                tokens: 64,
                seed: 0,
                version: "1".into(),
            };
            let facts = [
                (Author::System, opened),
                (Author::System, Event::PhaseEntered { phase: Phase::Block }),
                (Author::User, Event::UserSaid { text: r#""type":"phase-entered""#.into() }),
            ];
            log.append_all(Time::from_millis(at), facts).unwrap();
        }
        fs::create_dir(store.folder().join("empty")).unwrap();
        let headers = store.list().unwrap();
        let ids: Vec<_> = headers.iter().map(|header| header.id.as_str()).collect();
        assert_eq!(ids, ["a", "b"]);
        let Header { model, phase, facts, last, forked, .. } = &headers[0];
        assert_eq!((model.as_str(), *phase, *facts), ("model-a", Phase::Block, 3));
        assert_eq!((*last, *forked), (Time::from_millis(5), false));
    }
}
