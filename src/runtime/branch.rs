//! A fork with files of its own: the workspace as it was at a fact, and a session from there.

use std::fs;
use std::path::{Path as FilePath, PathBuf};

use super::error::OpenError;
use super::open::surroundings;
use super::world::World;
use crate::base::{FileError, Finding, Hash, file};
use crate::pipeline::Receipts;
use crate::session::{Replay, State, Store, fork};
use crate::workspace::{Path, SETTINGS, Settings, Workspace};

/// Where a fork was made, and what of its files could not be had.
#[derive(Debug)]
pub struct Branch {
    pub folder: PathBuf,
    pub findings: Vec<Finding>,
}

const MOST: u64 = 64 << 20;

/// Forks the session in `from` at the fact `seq` into the folder `root`. A recording has no files
/// beside its log: of such a one only the past itself comes along.
pub fn branch(
    from: &FilePath,
    seq: u64,
    root: &FilePath,
    world: &World,
) -> Result<Branch, OpenError> {
    let (replay, mut findings) = Replay::open(from)?;
    let state = replay.state_at(seq);
    let id = world.ids.session(world.clock.now());
    let folder = Store::of(root.join(".pilotfish/sessions")).session(&id);
    let log = fork(from, seq, &folder, world.clock.now())?;
    let new = Workspace::create(root)?;
    let place = Path::new(SETTINGS).expect("a plain name");
    match surroundings(from) {
        Ok((old, settings, _)) => {
            new.write(&place, settings.write_into(&old.text(&place)?)?.as_bytes(), None)?;
            for shared in ["objects", "baseline", "moves"] {
                copy(&old.private(shared), &new.private(shared))?;
            }
            copy(&old.root().join("skills"), &new.root().join("skills"))?;
            receipts(&old, &new, &state)?;
            findings.extend(files(&old, &new, &state)?);
        }
        Err(OpenError::Recording { .. }) => {
            new.write(&place, settings_of(&state).write_into("")?.as_bytes(), None)?;
            let message = "a recording keeps no files: the workspace of this fork begins empty";
            findings.push(Finding::warning(root.display().to_string(), message));
        }
        Err(error) => return Err(error),
    }
    drop(log);
    Ok(Branch { folder, findings })
}

fn settings_of(state: &State) -> Settings {
    Settings {
        target: state.target.clone(),
        agent: state.agent.clone(),
        autonomy: state.autonomy.name().to_owned(),
        seq: state.seq,
        tokens: state.tokens,
        seed: state.seed,
        ..Settings::of(state.model.clone())
    }
}

/// The documents and programs as they were: kept by hash, or not changed since.
fn files(old: &Workspace, new: &Workspace, state: &State) -> Result<Vec<Finding>, OpenError> {
    let mut findings = Vec::new();
    for (name, known) in &state.documents {
        let Ok(path) = Path::new(name) else { continue };
        let kept = || {
            let object = old.private("objects").join(known.hash.as_str());
            file::read(&object, MOST).ok().filter(|bytes| Hash::of(bytes) == known.hash)
        };
        let present = || old.read(&path).ok().filter(|bytes| Hash::of(bytes) == known.hash);
        if let Some(bytes) = present().or_else(kept) {
            new.write(&path, &bytes, None)?;
            continue;
        }
        let message = "what it was then is not kept: it is as it is now";
        findings.push(Finding::warning(name.clone(), message));
        if let Ok(bytes) = old.read(&path) {
            new.write(&path, &bytes, None)?;
        }
    }
    Ok(findings)
}

/// The chain of receipts up to the last judgement of the shared past.
fn receipts(old: &Workspace, new: &Workspace, state: &State) -> Result<(), OpenError> {
    let Some((_, last)) = state.judgements.last() else { return Ok(()) };
    let receipts = Receipts::at(old.root());
    let mut at = last.receipt.clone();
    while at != Hash::default() {
        let name = format!("{at}.json");
        copy(&old.receipts().join(&name), &new.receipts().join(&name))?;
        at = receipts.read(&at).map_or_else(|_| Hash::default(), |receipt| receipt.prev);
    }
    let head = format!("{}\n", last.receipt);
    let staging = new.private("staging");
    Ok(file::replace(&new.receipts().join("head"), head.as_bytes(), &staging, "tool-write")?)
}

/// Copies a file, or a folder with all that is in it; nothing where nothing is.
fn copy(from: &FilePath, to: &FilePath) -> Result<(), FileError> {
    if from.is_dir() {
        for item in fs::read_dir(from).map_err(FileError::at("list", from))?.flatten() {
            copy(&item.path(), &to.join(item.file_name()))?;
        }
        return Ok(());
    }
    if from.is_file() {
        file::create_folder(to.parent().unwrap_or(to))?;
        fs::copy(from, to).map_err(FileError::at("copy", from))?;
    }
    Ok(())
}
