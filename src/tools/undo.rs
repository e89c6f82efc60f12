//! What was there before each move, so that taking one back restores every byte.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::hand::Failure;
use super::kit::Kit;
use super::programs::{hash, path};
use crate::base::{Hash, file};
use crate::model::Stage;
use crate::workspace::{Patch, Snapshot};

/// The moves of one stage, oldest first. Nothing is taken off when a move is taken back: how many
/// are in force follows from the file itself, so a process that dies between the file and this
/// list leaves nothing that contradicts it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Stack {
    moves: Vec<Made>,
    /// How many moves were in force whenever a step was kept.
    kept: Vec<usize>,
    #[serde(skip)]
    place: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Made {
    #[serde(rename = "move")]
    pub name: String,
    pub site: Value,
    /// The tree as it was before.
    pub snapshot: Hash,
    /// The program file after.
    pub after: Hash,
}

const MOST: u64 = 16 << 20;

impl Stack {
    pub(super) fn open(kit: &Kit, stage: Stage) -> Result<Self, Failure> {
        let place = place(kit, stage);
        let stack = match file::read(&place, MOST) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(error) if error.is_missing() => Self::default(),
            Err(error) => return Err(error.into()),
        };
        Ok(Self { place, ..stack })
    }

    /// How many moves are in force in this text. One that a person has edited since counts all.
    pub(super) fn depth(&self, kit: &Kit, stage: Stage, text: &str) -> Result<usize, Failure> {
        let now = hash(text);
        if let Some(at) = self.moves.iter().rposition(|made| made.after == now) {
            return Ok(at + 1);
        }
        if let Some(first) = self.moves.first()
            && first.before(kit, stage)? == text
        {
            return Ok(0);
        }
        Ok(self.moves.len())
    }

    /// Notes a move that is about to be made on top of `depth` others, and keeps what the file
    /// will be: an edit made after it can then be told from the move.
    pub(super) fn push(
        &mut self,
        kit: &Kit,
        depth: usize,
        made: Made,
        after: &str,
    ) -> Result<(), Failure> {
        let place = object(kit, &made.after);
        if !place.exists() {
            let staging = kit.workspace.private("staging");
            file::replace(&place, after.as_bytes(), &staging, "artifact-write")?;
        }
        self.moves.truncate(depth);
        self.kept.retain(|kept| *kept <= depth);
        self.moves.push(made);
        self.write(kit)
    }

    /// The last of the moves in force.
    pub(super) fn last(&self, depth: usize) -> Option<&Made> {
        self.moves.get(depth.checked_sub(1)?)
    }

    /// A step was kept: what follows is compared with it.
    pub(super) fn keep(&mut self, kit: &Kit, text: &str) -> Result<(), Failure> {
        let now = hash(text);
        let at = self.moves.iter().rposition(|made| made.after == now);
        let depth = at.map_or(0, |at| at + 1);
        if self.kept.last() != Some(&depth) {
            self.kept.push(depth);
            self.write(kit)?;
        }
        Ok(())
    }

    fn write(&self, kit: &Kit) -> Result<(), Failure> {
        let bytes = serde_json::to_vec_pretty(self)?;
        file::replace(&self.place, &bytes, &kit.workspace.private("staging"), "tool-write")?;
        Ok(())
    }
}

impl Made {
    /// The program file as the move left it.
    pub(super) fn after(&self, kit: &Kit) -> Result<Vec<u8>, Failure> {
        Ok(file::read(&object(kit, &self.after), MOST)?)
    }

    /// The program file as it was before the move.
    pub(super) fn before(&self, kit: &Kit, stage: Stage) -> Result<String, Failure> {
        Ok(Snapshot::open(&kit.workspace, &self.snapshot)?.text(&path(stage))?)
    }
}

/// What changed since the last step that was kept before this text.
pub(super) fn since_kept(kit: &Kit, stage: Stage, text: &str) -> Result<Option<Patch>, Failure> {
    let stack = Stack::open(kit, stage)?;
    let depth = stack.depth(kit, stage, text)?;
    let from = stack.kept.iter().rev().find(|kept| **kept < depth).copied().unwrap_or(0);
    let Some(first) = stack.moves.get(from).filter(|_| from < depth) else { return Ok(None) };
    let before = first.before(kit, stage)?;
    Ok(Some(Patch::of(path(stage), before.as_bytes(), text.as_bytes())))
}

/// The program was made anew: there is nothing to go back to.
pub(super) fn forget(kit: &Kit, stage: Stage) -> Result<(), Failure> {
    Stack { place: place(kit, stage), ..Stack::default() }.write(kit)
}

fn object(kit: &Kit, hash: &Hash) -> PathBuf {
    kit.workspace.private("objects").join(hash.as_str())
}

fn place(kit: &Kit, stage: Stage) -> PathBuf {
    kit.workspace.private(&format!("moves/{stage}.json"))
}
