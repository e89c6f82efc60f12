//! May a phase be entered, may it close: gates that pass on these files, and words written.

use std::collections::BTreeMap;
use std::path::Path;

use super::frozen::Frozen;
use super::gate::gate;
use super::gates::gates;
use super::phase::{entries, needs};
use super::receipt::{Receipt, Receipts};
use crate::base::{Finding, Hash};
use crate::session::Phase;

/// Where a workspace stands: every receipt of it, and its files as they are now.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    receipts: Vec<(Hash, Receipt)>,
    present: BTreeMap<&'static str, Hash>,
    frozen: Frozen,
    /// What is wrong with the chain of receipts. Nothing is entered on a broken chain.
    pub broken: Vec<Finding>,
}

impl Standing {
    /// Reads it off the disk: a session log is not needed.
    pub fn of(workspace: &Path) -> Result<Self, String> {
        let frozen = Frozen::of(workspace)?;
        let (receipts, broken) = Receipts::at(workspace).verify();
        let present = gates().iter().map(|gate| (gate.id, gate.inputs(&frozen))).collect();
        Ok(Self { receipts, present, frozen, broken })
    }

    /// The snapshot of the files as they are now.
    pub fn snapshot(&self) -> &Hash {
        &self.frozen.hash
    }

    /// Why a phase cannot close: empty if it can.
    pub fn lacks(&self, phase: Phase) -> Vec<String> {
        let gates = needs(phase).iter().filter_map(|id| self.lacking_gate(phase, id));
        self.breaks().chain(gates).chain(self.lacking_entries(phase)).collect()
    }

    /// Why a phase cannot be entered: empty if it can. The phase before it must close on the
    /// files as they are. Those before that have closed: what later phases rewrote since is
    /// judged by their own gates.
    pub fn bars(&self, phase: Phase) -> Vec<String> {
        let before = Phase::ALL.into_iter().filter(|before| *before < phase);
        let reasons = before.flat_map(|before| {
            let lacks = if before.next() == Some(phase) {
                self.lacks(before)
            } else {
                let never = |id: &&&str| !self.of_gate(before, id).any(|(_, last)| last.passed());
                let never = needs(before).iter().filter(never);
                never.map(|id| format!("gate `{id}` never passed")).collect()
            };
            lacks.into_iter().map(move |lack| format!("phase {}: {lack}", before.number()))
        });
        reasons.collect()
    }

    /// The gates of the phase before this one that do not pass on the files as they are.
    pub fn unproven(&self, phase: Phase) -> Vec<&'static str> {
        let before = Phase::ALL.into_iter().find(|before| before.next() == Some(phase));
        let needed = before.into_iter().flat_map(|before| {
            needs(before).iter().filter(move |id| self.lacking_gate(before, id).is_some())
        });
        needed.copied().collect()
    }

    /// The last receipt of a gate that speaks of the files as they are now.
    pub fn fresh(&self, phase: Phase, id: &str) -> Option<&(Hash, Receipt)> {
        let present = self.present.get(id)?;
        self.of_gate(phase, id).rfind(|(_, receipt)| receipt.inputs == *present)
    }

    /// The last receipt of a gate, whatever it speaks of.
    pub fn last(&self, phase: Phase, id: &str) -> Option<&(Hash, Receipt)> {
        self.of_gate(phase, id).next_back()
    }

    fn of_gate<'a, 'b>(
        &'a self,
        phase: Phase,
        id: &'b str,
    ) -> impl DoubleEndedIterator<Item = &'a (Hash, Receipt)> + use<'a, 'b> {
        let of = move |(_, receipt): &&(Hash, Receipt)| {
            receipt.phase == phase && receipt.gate.as_str() == id
        };
        self.receipts.iter().filter(of)
    }

    fn breaks(&self) -> impl Iterator<Item = String> {
        self.broken.iter().map(|finding| format!("{}: {}", finding.place, finding.message))
    }

    fn lacking_gate(&self, phase: Phase, id: &str) -> Option<String> {
        // Documents go on changing while they are written; their entries are read anew below.
        let receipt = if id == "documents" { self.last(phase, id) } else { self.fresh(phase, id) };
        let Some((_, receipt)) = receipt else {
            return Some(match self.last(phase, id) {
                None => format!("gate `{id}` has not been judged for it"),
                Some(_) => format!("gate `{id}` was judged on other files than these"),
            });
        };
        if !receipt.passed() {
            return Some(format!("gate `{id}`: {} · {}", receipt.verdict, receipt.headline));
        }
        let now = gate(id).map_or(0, |gate| gate.version);
        (now != receipt.version).then(|| format!("gate `{id}` asks for more than it did then"))
    }

    fn lacking_entries(&self, phase: Phase) -> impl Iterator<Item = String> {
        entries(phase).iter().filter_map(move |entry| {
            let text = self.frozen.text(entry.document).unwrap_or_default();
            if entry.is_in(&text, phase) {
                return None;
            }
            let document = entry.document;
            Some(if let Some(row) = entry.row {
                format!("{document} has no table row for {row}")
            } else {
                let (number, title) = (phase.number(), phase.title());
                format!("{document} says nothing under `Phase {number} · {title}`")
            })
        })
    }
}
