//! What was there before each move, so that taking one back restores every byte.

use std::iter;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::hand::Failure;
use super::kit::Kit;
use super::programs::{hash, path};
use crate::base::{Hash, file};
use crate::model::Stage;
use crate::workspace::{Patch, Snapshot};

/// The moves of one stage, in the order in which they were made, taken back or not. Which of them
/// are in force follows from the file itself, so a process that dies between the file and this
/// list leaves nothing that contradicts it, and a fork may go on from any file of the past.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Stack {
    moves: Vec<Made>,
    /// The program files that a step was kept for.
    kept: Vec<Hash>,
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
    /// The program file before, and after.
    pub before: Hash,
    pub after: Hash,
    /// The place in the list of the move that it was made on top of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onto: Option<usize>,
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

    /// The place of the last move in force in this text. One that a person has edited since the
    /// last move holds that too.
    fn top(&self, text: &str) -> Option<usize> {
        let now = hash(text);
        let after = self.moves.iter().rposition(|made| made.after == now);
        let before = || self.moves.iter().rfind(|made| made.before == now);
        after.or_else(|| match before() {
            Some(made) => made.onto,
            None => self.moves.len().checked_sub(1),
        })
    }

    /// The moves in force in this text, the last one first.
    pub(super) fn in_force(&self, text: &str) -> impl Iterator<Item = &Made> {
        let made = |at: usize| self.moves.get(at);
        // A move stands on an earlier one: a list that says otherwise would lead in a circle.
        let below = move |(at, one): &(usize, &Made)| {
            one.onto.filter(|onto| onto < at).and_then(|onto| Some((onto, made(onto)?)))
        };
        let top = self.top(text).and_then(|at| Some((at, made(at)?)));
        iter::successors(top, below).map(|(_, made)| made)
    }

    /// Notes a move that is about to be made on this text, and keeps what the file will be: an
    /// edit made after it can then be told from the move.
    pub(super) fn push(
        &mut self,
        kit: &Kit,
        made: Made,
        before: &str,
        after: &str,
    ) -> Result<(), Failure> {
        let place = object(kit, &made.after);
        if !place.exists() {
            let staging = kit.workspace.private("staging");
            file::replace(&place, after.as_bytes(), &staging, "artifact-write")?;
        }
        let noted = |last: &Made| (&last.before, &last.after) == (&made.before, &made.after);
        // It is there already if a process died between this list and the file.
        if self.moves.last().is_some_and(noted) {
            return Ok(());
        }
        let onto = self.top(before);
        self.moves.push(Made { onto, ..made });
        self.write(kit)
    }

    /// A step was kept: what follows is compared with it.
    pub(super) fn keep(&mut self, kit: &Kit, text: &str) -> Result<(), Failure> {
        let now = hash(text);
        if !self.kept.contains(&now) {
            self.kept.push(now);
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
    let made: Vec<&Made> = stack.in_force(text).collect();
    let kept = made.iter().skip(1).position(|made| stack.kept.contains(&made.after));
    let Some(first) = made.get(kept.unwrap_or(made.len().saturating_sub(1))) else {
        return Ok(None);
    };
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
