//! Which session a person means: a path, the beginning of an id, or the name of a recording.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::LogError;
use super::log::FILE;
use super::store::Store;
use crate::base::{FileError, file, nearest};

/// Where a workspace keeps its sessions.
const SESSIONS: &str = ".pilotfish/sessions";

/// The list of known workspaces, one path a line: `$XDG_STATE_HOME/pilotfish/workspaces`.
#[derive(Clone, Debug)]
pub struct Workspaces {
    file: PathBuf,
}

impl Workspaces {
    pub fn of(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into() }
    }

    /// Those that still exist, the one opened last first.
    pub fn list(&self) -> Vec<PathBuf> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let paths = text.lines().filter(|line| !line.is_empty()).map(PathBuf::from);
        paths.filter(|path| path.is_dir()).collect()
    }

    /// Puts a workspace first.
    pub fn remember(&self, workspace: &Path) -> Result<(), FileError> {
        let mut paths = self.list();
        if paths.first().is_some_and(|first| first == workspace) {
            return Ok(());
        }
        paths.retain(|path| path != workspace);
        paths.insert(0, workspace.to_owned());
        let lines = paths.iter().map(|path| format!("{}\n", path.display()));
        let staging = self.file.with_extension("staging");
        file::replace(&self.file, lines.collect::<String>().as_bytes(), &staging, "tool-write")?;
        let _ = fs::remove_dir(staging);
        Ok(())
    }
}

/// The folder of the session that `word` names.
///
/// A path may be that of a session, of its log, or of a workspace, which stands for its newest
/// session. Then the recordings are looked at by name, then every session of `workspaces` by the
/// beginning of its id.
pub fn find(
    word: &str,
    workspaces: &[PathBuf],
    recordings: &[PathBuf],
) -> Result<PathBuf, LogError> {
    if let Some(folder) = by_path(Path::new(word))? {
        return Ok(folder);
    }
    let plain = !word.is_empty() && !word.contains(['/', '\\']) && word != "." && word != "..";
    if plain {
        let named = recordings.iter().map(|folder| folder.join(word));
        if let Some(folder) = named.into_iter().find(|folder| folder.join(FILE).is_file()) {
            return Ok(folder);
        }
    }
    let mut known = Vec::new();
    for workspace in workspaces {
        known.extend(Store::of(workspace.join(SESSIONS)).folders().unwrap_or_default());
    }
    let matching = known.iter().filter(|folder| plain && name(folder).starts_with(word));
    let found: Vec<&PathBuf> = matching.collect();
    match found[..] {
        [one] => Ok(one.clone()),
        [] => Err(unknown(word, recordings, &known)),
        _ => {
            let which = found.iter().map(|folder| format!("`{}`", folder.display())).collect();
            Err(LogError::Ambiguous { word: word.to_owned(), which })
        }
    }
}

fn by_path(path: &Path) -> Result<Option<PathBuf>, LogError> {
    if path.join(FILE).is_file() {
        return Ok(Some(path.to_owned()));
    }
    if path.is_file() && path.file_name().is_some_and(|name| name == FILE) {
        return Ok(path.parent().map(Path::to_owned));
    }
    Ok(Store::of(path.join(SESSIONS)).list()?.into_iter().next().map(|header| header.folder))
}

fn unknown(word: &str, recordings: &[PathBuf], known: &[PathBuf]) -> LogError {
    let recorded =
        recordings.iter().flat_map(|folder| Store::of(folder).folders().unwrap_or_default());
    let names: Vec<String> = recorded.chain(known.iter().cloned()).map(|f| name(&f)).collect();
    let near = nearest(word, names.iter().map(String::as_str)).map(str::to_owned);
    LogError::Unknown { word: word.to_owned(), near }
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SessionId;

    #[test]
    fn a_session_is_found_by_path_prefix_or_name() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        let recordings = folder.path().join("recordings");
        for (place, id) in [(&one, "0068aa-1"), (&one, "0068ab-2"), (&two, "0068ab-3")] {
            Store::of(place.join(SESSIONS)).create(&SessionId::from(id)).unwrap();
        }
        Store::of(&recordings).create(&SessionId::from("tiny-llama")).unwrap();
        let known = Workspaces::of(folder.path().join("state/workspaces"));
        known.remember(&two).unwrap();
        known.remember(&one).unwrap();
        assert_eq!(known.list(), [one.clone(), two.clone()]);
        let seek = |word: &str| find(word, &known.list(), std::slice::from_ref(&recordings));
        assert_eq!(seek("0068aa").unwrap(), one.join(SESSIONS).join("0068aa-1"));
        assert_eq!(seek("tiny-llama").unwrap(), recordings.join("tiny-llama"));
        assert_eq!(seek(two.to_str().unwrap()).unwrap(), two.join(SESSIONS).join("0068ab-3"));
        let log = two.join(SESSIONS).join("0068ab-3/log.jsonl");
        assert_eq!(seek(log.to_str().unwrap()).unwrap(), two.join(SESSIONS).join("0068ab-3"));
        assert!(
            matches!(seek("0068ab"), Err(LogError::Ambiguous { which, .. }) if which.len() == 2)
        );
        let told = seek("tiny-lama").unwrap_err().to_string();
        assert!(told.contains("did you mean `tiny-llama`"), "{told}");
        assert!(matches!(seek(""), Err(LogError::Unknown { .. })));
        assert!(matches!(seek(".."), Err(LogError::Unknown { .. })));
    }
}
