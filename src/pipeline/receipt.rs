//! Receipts: what a judgement looked at and found, chained by hash.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::replace::replace;
use crate::base::{Finding, GateId, Hash};
use crate::session::{Metric, MutantJudged, Phase, Verdict};

/// Named by the hash of its own bytes; `prev` names the one before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub v: u32,
    pub gate: GateId,
    /// Of the gate: what it asks may change between versions of the program.
    pub version: u32,
    pub phase: Phase,
    pub verdict: Verdict,
    pub headline: String,
    pub snapshot: Hash,
    /// The files of the snapshot that the gate looks at.
    pub inputs: Hash,
    /// The model, hence the oracle.
    pub oracle: Hash,
    /// Prompts and token counts; its seed beside it.
    pub workload: Hash,
    pub seed: u64,
    /// Simulator and calibration, or toolchain and drivers.
    pub target: String,
    /// Where the weights come from: `checkpoint`, or `synthetic (…)`.
    pub provenance: String,
    /// Measured values beside their thresholds.
    pub metrics: Vec<Metric>,
    pub mutants: Vec<MutantJudged>,
    /// `none yet`, where the gate has no mutants.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mutants_note: String,
    /// Placement rows, reference kinds, overrides: what a reader of the receipt must know.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
    /// How much was judged: a judgement of nothing is no judgement.
    pub cases: usize,
    pub prev: Hash,
}

impl Receipt {
    pub fn passed(&self) -> bool {
        self.verdict == Verdict::Pass
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .expect("a receipt is plain JSON: string keys, finite depth");
        bytes.push(b'\n');
        bytes
    }

    fn is_same_judgement(&self, other: &Self) -> bool {
        Self { prev: Hash::default(), ..self.clone() }.bytes()
            == Self { prev: Hash::default(), ..other.clone() }.bytes()
    }
}

/// The receipts of a workspace: `.pilotfish/receipts/<hash>.json`, the last one named by `head`.
#[derive(Clone, Debug)]
pub struct Receipts {
    folder: PathBuf,
}

impl Receipts {
    pub fn at(workspace: &Path) -> Self {
        Self { folder: workspace.join(".pilotfish").join("receipts") }
    }

    /// Links a receipt to the last one and stores it. The same judgement again is not stored
    /// again, so that a judgement repeated after a crash leaves the same chain.
    pub fn append(&self, mut receipt: Receipt) -> io::Result<Hash> {
        fs::create_dir_all(&self.folder)?;
        let head = self.head()?;
        if let Some(last) = head.as_ref().and_then(|head| self.read(head).ok())
            && last.is_same_judgement(&receipt)
        {
            return Ok(head.unwrap_or_default());
        }
        receipt.prev = head.unwrap_or_default();
        let bytes = receipt.bytes();
        let hash = Hash::of(&bytes);
        replace(&self.path(&hash), &bytes)?;
        replace(&self.folder.join("head"), format!("{hash}\n").as_bytes())?;
        Ok(hash)
    }

    pub fn head(&self) -> io::Result<Option<Hash>> {
        match fs::read_to_string(self.folder.join("head")) {
            Ok(text) => Ok(Some(Hash::from(text.trim()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// One receipt, if its bytes are those that its name promises.
    pub fn read(&self, hash: &Hash) -> io::Result<Receipt> {
        if !hash.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()) || hash.as_str().len() != 64
        {
            return Err(io::Error::other(format!("`{hash}` is no receipt's name")));
        }
        let bytes = fs::read(self.path(hash))?;
        if Hash::of(&bytes) != *hash {
            return Err(io::Error::other(format!("receipt {} was changed", hash.short())));
        }
        serde_json::from_slice(&bytes).map_err(io::Error::other)
    }

    /// Every receipt from the first to the head, with what is wrong with the chain.
    pub fn verify(&self) -> (Vec<(Hash, Receipt)>, Vec<Finding>) {
        let mut findings = Vec::new();
        let mut chain = Vec::new();
        let wrong = |hash: &Hash, why: String| {
            Finding::error(format!(".pilotfish/receipts/{hash}.json"), why)
                .rule("receipt-chain")
                .hint("judge the workspace again; receipts are never edited")
        };
        let mut at = match self.head() {
            Ok(head) => head.unwrap_or_default(),
            Err(error) => {
                findings.push(wrong(&Hash::from("head"), format!("cannot be read: {error}")));
                Hash::default()
            }
        };
        while at != Hash::default() {
            match self.read(&at) {
                Ok(receipt) => {
                    let prev = receipt.prev.clone();
                    chain.push((at, receipt));
                    at = prev;
                }
                Err(error) => {
                    findings.push(wrong(&at, format!("the chain breaks here: {error}")));
                    break;
                }
            }
        }
        chain.reverse();
        findings.extend(self.strangers(&chain));
        (chain, findings)
    }

    /// Files that no link names: a rewritten history leaves such behind.
    fn strangers(&self, chain: &[(Hash, Receipt)]) -> Vec<Finding> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into()).collect();
        names.sort();
        let known = |name: &String| {
            name == "head" || chain.iter().any(|(hash, _)| *name == format!("{hash}.json"))
        };
        let strange = names.into_iter().filter(|name| !known(name));
        strange
            .map(|name| {
                let place = format!(".pilotfish/receipts/{name}");
                Finding::error(place, "no receipt of the chain names this file")
                    .rule("receipt-chain")
            })
            .collect()
    }

    fn path(&self, hash: &Hash) -> PathBuf {
        self.folder.join(format!("{hash}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn receipt(gate: &str) -> Receipt {
        Receipt {
            v: 1,
            gate: gate.into(),
            version: 1,
            phase: Phase::Block,
            verdict: Verdict::Fail,
            headline: String::new(),
            snapshot: Hash::of(b"s"),
            inputs: Hash::of(b"i"),
            oracle: Hash::of(b"o"),
            workload: Hash::of(b"w"),
            seed: 7,
            target: "sim".into(),
            provenance: "checkpoint".into(),
            metrics: Vec::new(),
            mutants: Vec::new(),
            mutants_note: String::new(),
            notes: BTreeMap::new(),
            cases: 1,
            prev: Hash::default(),
        }
    }

    #[test]
    fn a_chain_grows_and_a_repeated_judgement_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let receipts = Receipts::at(folder.path());
        let first = receipts.append(receipt("block")).unwrap();
        let second = receipts.append(receipt("layers")).unwrap();
        assert_eq!(receipts.append(receipt("layers")).unwrap(), second);
        let (chain, findings) = receipts.verify();
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(chain.iter().map(|(hash, _)| hash).collect::<Vec<_>>(), [&first, &second]);
    }

    #[test]
    fn every_changed_byte_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let receipts = Receipts::at(folder.path());
        let first = receipts.append(receipt("block")).unwrap();
        receipts.append(receipt("layers")).unwrap();
        let honest = fs::read(receipts.path(&first)).unwrap();
        for at in (0..honest.len()).step_by(7) {
            let mut bytes = honest.clone();
            bytes[at] ^= 1;
            fs::write(receipts.path(&first), &bytes).unwrap();
            let (_, findings) = receipts.verify();
            assert!(findings.iter().any(|finding| finding.place.contains(first.as_str())));
        }
        fs::write(receipts.path(&first), &honest).unwrap();
        assert!(receipts.verify().1.is_empty());
        fs::write(receipts.folder.join("head"), format!("{first}\n")).unwrap();
        assert_eq!(receipts.verify().1.len(), 1, "a cut-off tail leaves a stranger");
    }
}
