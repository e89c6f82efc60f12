//! Saving a document that a person may have changed meanwhile: both changes stay.

use serde::{Deserialize, Serialize};
use similar::{MergeResolution, TextMerge};

use super::document::Edit;
use super::error::WorkspaceError;
use super::path::{PRIVATE, Path};
use super::root::Workspace;
use crate::base::{Hash, file};

/// What saving did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    pub hash: Hash,
    /// Whether the file is another one than before.
    pub changed: bool,
    /// What the file was if somebody else had changed it since we saved it last.
    pub outside: Option<Hash>,
    /// The lines of the change that were left out, because a person had changed the same place.
    pub left_out: Vec<String>,
}

/// A merge of two changes of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    pub text: String,
    pub left_out: Vec<String>,
}

/// What is remembered of a document, in `.pilotfish/documents`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Record {
    /// The text as it would be had nobody but us written: the base of the next merge.
    asked: Hash,
    /// The file as we left it.
    saved: Hash,
    /// The file as we are about to leave it: a process may die between that and the next record.
    next: Hash,
}

impl Merged {
    /// Both changed the same lines. What ours only adds after or before them stays beside theirs.
    fn meet(&mut self, base: &[&str], ours: &[&str], theirs: Vec<&str>) {
        if let Some(added) = ours.strip_prefix(base) {
            let is_there = theirs.ends_with(added);
            self.text.extend(theirs);
            self.end_line();
            self.text.extend(added.iter().copied().filter(|_| !is_there));
        } else if let Some(added) = ours.strip_suffix(base) {
            let is_there = theirs.starts_with(added);
            self.text.extend(added.iter().copied().filter(|_| !is_there));
            self.text.extend(theirs);
        } else {
            let left = ours.iter().filter(|line| !line.trim().is_empty() && !theirs.contains(line));
            self.left_out.extend(left.map(|line| line.trim_end().to_owned()));
            self.text.extend(theirs);
        }
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

/// A document as it is, and what we know of it.
struct Known {
    disk: Option<String>,
    record: Option<Record>,
    base: Option<String>,
}

impl Known {
    /// What was asked for, and what comes of it.
    fn with(&self, path: &Path, edit: &Edit) -> Result<(String, Merged), WorkspaceError> {
        let combined = combine(edit, self.base.as_deref(), self.disk.as_deref());
        combined.map_err(|why| WorkspaceError::Edit { path: path.clone(), why })
    }
}

/// Takes both changes; where they meet, a person's (`theirs`) stays and ours is left out.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Merged {
    let merge = TextMerge::from_lines(base, ours, theirs);
    let mut merged = Merged { text: String::new(), left_out: Vec::new() };
    for region in merge.regions() {
        let base = region.base_range().filter_map(|at| merge.base_line(at));
        let ours = region.ours_range().filter_map(|at| merge.ours_line(at));
        let theirs = region.theirs_range().filter_map(|at| merge.theirs_line(at));
        match region.resolution() {
            MergeResolution::Ours => merged.text.extend(ours),
            MergeResolution::Conflict => {
                let (base, ours): (Vec<&str>, Vec<&str>) = (base.collect(), ours.collect());
                merged.meet(&base, &ours, theirs.collect());
            }
            _ => merged.text.extend(theirs),
        }
    }
    merged
}

impl Workspace {
    /// Changes a document, made if it is missing. A person's changes since we saved it last stay;
    /// where theirs and ours meet, theirs wins and ours is told in `left_out`.
    pub fn save(&self, path: &Path, edit: &Edit) -> Result<Saved, WorkspaceError> {
        let known = self.known(path)?;
        let (asked, merged) = known.with(path, edit)?;
        self.settle(path, &known, &asked, merged)
    }

    /// Makes a document this text, which a person chose when an edit was put before them. What
    /// it has of their own stays theirs in later merges.
    pub fn save_as(&self, path: &Path, edit: &Edit, text: &str) -> Result<Saved, WorkspaceError> {
        let known = self.known(path)?;
        let (asked, _) = known.with(path, edit)?;
        self.settle(path, &known, &asked, Merged { text: text.to_owned(), left_out: Vec::new() })
    }

    /// What `save` would make of a document: its text now, and its text then.
    pub fn preview(&self, path: &Path, edit: &Edit) -> Result<(String, String), WorkspaceError> {
        let known = self.known(path)?;
        let (_, merged) = known.with(path, edit)?;
        Ok((known.disk.unwrap_or_default(), merged.text))
    }

    fn known(&self, path: &Path) -> Result<Known, WorkspaceError> {
        let disk = match self.text(path) {
            Ok(text) => Some(text),
            Err(error) if error.is_missing() => None,
            Err(error) => return Err(error),
        };
        let record = self.record(path);
        let base = record.as_ref().and_then(|known| self.object(&known.asked));
        Ok(Known { disk, record, base })
    }

    fn settle(
        &self,
        path: &Path,
        known: &Known,
        asked: &str,
        merged: Merged,
    ) -> Result<Saved, WorkspaceError> {
        let theirs = known.disk.as_ref().map(|text| Hash::of(text.as_bytes()));
        let outside = theirs.clone().filter(|hash| {
            known.record.as_ref().is_none_or(|ours| *hash != ours.saved && *hash != ours.next)
        });
        let hash = Hash::of(merged.text.as_bytes());
        let changed = theirs.as_ref() != Some(&hash);
        let old = known.record.clone().unwrap_or_default();
        let asked = self.put_object(asked.as_bytes())?;
        if changed {
            self.write_record(path, &Record { next: hash.clone(), ..old.clone() })?;
            self.write_at(path, merged.text.as_bytes(), theirs.as_ref(), "document-replace")?;
        }
        if changed || old.asked != asked || old.saved != hash {
            let now = Record { asked, saved: hash.clone(), next: Hash::default() };
            self.write_record(path, &now)?;
        }
        Ok(Saved { hash, changed, outside, left_out: merged.left_out })
    }

    /// Where it is remembered what we know of a document. Whoever puts the document back as it
    /// was puts this back too.
    pub fn record_of(path: &Path) -> Path {
        let name = Hash::of(path.as_str().as_bytes());
        let place = format!("{PRIVATE}/documents/{}.json", name.short());
        Path::new(&place).expect("it is made of plain names")
    }

    /// The hash of a document that somebody else has changed since we saved it last.
    pub fn outside_edit(&self, path: &Path) -> Result<Option<Hash>, WorkspaceError> {
        let Some(record) = self.record(path) else { return Ok(None) };
        let hash = self.hash(path)?;
        Ok(hash.filter(|hash| *hash != record.saved && *hash != record.next))
    }

    fn record_place(&self, path: &Path) -> std::path::PathBuf {
        self.root().join(Self::record_of(path).as_std())
    }

    fn record(&self, path: &Path) -> Option<Record> {
        let bytes = file::read(&self.record_place(path), 1 << 16).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    fn write_record(&self, path: &Path, record: &Record) -> Result<(), WorkspaceError> {
        let text = serde_json::to_string(record).expect("three hashes are plain JSON");
        let place = self.record_place(path);
        file::replace(&place, text.as_bytes(), &self.private("staging"), "document-replace")?;
        Ok(())
    }

    fn object(&self, hash: &Hash) -> Option<String> {
        if !Hash::is_name(hash.as_str()) {
            return None;
        }
        let bytes = file::read(&self.private("objects").join(hash.as_str()), 64 << 20).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn put_object(&self, bytes: &[u8]) -> Result<Hash, WorkspaceError> {
        let hash = Hash::of(bytes);
        let place = self.private("objects").join(hash.as_str());
        if !file::read(&place, bytes.len() as u64).is_ok_and(|kept| kept == bytes) {
            file::replace(&place, bytes, &self.private("staging"), "artifact-write")?;
        }
        Ok(hash)
    }
}

/// What we ask for had nobody else written, and what comes of it and the file as it is.
fn combine(
    edit: &Edit,
    base: Option<&str>,
    disk: Option<&str>,
) -> Result<(String, Merged), String> {
    let whole = |text: String| Merged { text, left_out: Vec::new() };
    let replaces = matches!(edit, Edit::Replace(_) | Edit::Section { .. });
    match (base, disk) {
        (_, None) => {
            let text = edit.apply("")?;
            Ok((text.clone(), whole(text)))
        }
        // A person's file that we have never written to: ours goes below it.
        (None, Some(disk)) => {
            let asked = edit.apply("").unwrap_or_default();
            match edit {
                Edit::Replace(text) if disk.trim() != text.trim() => {
                    Ok((asked, whole(Edit::Append(text.clone()).apply(disk)?)))
                }
                Edit::Section { heading, text } => {
                    let add = Edit::AppendTo { heading: heading.clone(), text: text.clone() };
                    Ok((asked, whole(add.apply(disk)?)))
                }
                _ => Ok((asked, whole(edit.apply(disk)?))),
            }
        }
        // A change of one place, or one that adds: made in the file as it is.
        (Some(base), Some(disk)) if !replaces => {
            let text = edit.apply(disk)?;
            Ok((edit.apply(base).unwrap_or_else(|_| base.to_owned()), whole(text)))
        }
        (Some(base), Some(disk)) => {
            let asked = edit.apply(base)?;
            let merged = merge(base, &asked, disk);
            Ok((asked, merged))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_changes_stay_and_a_persons_wins() {
        let base = "a\nb\nc\nd\ne\n";
        let check = |ours: &str, theirs: &str, text: &str, left: &[&str]| {
            let merged = merge(base, ours, theirs);
            assert_eq!(
                (merged.text.as_str(), &merged.left_out[..]),
                (text, &left.iter().map(ToString::to_string).collect::<Vec<_>>()[..])
            );
        };
        check("A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n", &[]);
        check("a\nb\nX\nd\ne\n", "a\nb\nY\nd\ne\n", "a\nb\nY\nd\ne\n", &["X"]);
        check("a\nb\nX\nd\ne\n", "a\nb\nX\nd\ne\n", "a\nb\nX\nd\ne\n", &[]);
        check("a\nb\nc\nd\ne\nX\n", "a\nb\nc\nd\ne\nY\n", "a\nb\nc\nd\ne\nY\nX\n", &[]);
        check("a\nb\nc\nd\ne\nX\n", "a\nb\nc\nd\nE\n", "a\nb\nc\nd\nE\nX\n", &[]);
        check("a\nc\nd\ne\n", "a\nb\nc\nd\ne\nf", "a\nc\nd\ne\nf", &[]);
    }

    #[test]
    fn a_hand_edit_survives_every_save() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        let plan = Path::new("plan.md").unwrap();
        let text = |step: u32| {
            format!("# Plan\n\nstep {step}\n\n## Notes\n\nnone\n\n## Tasks\n\n- [ ] bake\n")
        };
        let saved = workspace.save(&plan, &Edit::Replace(text(0))).unwrap();
        assert!(saved.changed && saved.outside.is_none());
        assert!(!workspace.save(&plan, &Edit::Replace(text(0))).unwrap().changed);
        assert_eq!(workspace.outside_edit(&plan).unwrap(), None);
        // 1. A person writes into the notes.
        let by_hand = text(0).replace("none", "mind the gap");
        std::fs::write(folder.path().join("plan.md"), &by_hand).unwrap();
        let hash = Hash::of(by_hand.as_bytes());
        assert_eq!(workspace.outside_edit(&plan).unwrap(), Some(hash));
        // 2. The whole text is replaced, again and again: their line stays.
        for step in 1..4 {
            let saved = workspace.save(&plan, &Edit::Replace(text(step))).unwrap();
            assert_eq!(saved.outside.is_some(), step == 1);
            assert_eq!(saved.left_out, Vec::<String>::new());
            let expected = text(step).replace("none", "mind the gap");
            assert_eq!(workspace.text(&plan).unwrap(), expected);
        }
        // 3. The very section that they changed is replaced: theirs stays, and ours is told.
        let edit = Edit::Section { heading: "Notes".into(), text: "some".into() };
        let saved = workspace.save(&plan, &edit).unwrap();
        assert_eq!(saved.left_out, ["some"]);
        assert!(workspace.text(&plan).unwrap().contains("mind the gap"));
        // 4. A tick is made in the file as it is.
        workspace.save(&plan, &Edit::Tick("bake".into())).unwrap();
        let expected = text(3).replace("none", "mind the gap").replace("[ ]", "[x]");
        assert_eq!(workspace.text(&plan).unwrap(), expected);
        assert!(workspace.save(&plan, &Edit::Tick("fry".into())).is_err());
    }

    #[test]
    fn what_a_person_chose_stays_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        let plan = Path::new("plan.md").unwrap();
        let steps = |text: &str| Edit::Section { heading: "Steps".into(), text: text.into() };
        workspace.save(&plan, &steps("one\ntwo")).unwrap();
        // Put before a person, the second edit becomes what they make of it.
        let (before, after) = workspace.preview(&plan, &steps("one\ntwo\nthree")).unwrap();
        assert_eq!((before.lines().count(), after.lines().count()), (4, 5));
        let chosen = format!("mine\n\n{after}");
        let saved = workspace.save_as(&plan, &steps("one\ntwo\nthree"), &chosen).unwrap();
        assert_eq!((saved.changed, saved.outside), (true, None));
        assert_eq!(workspace.outside_edit(&plan).unwrap(), None);
        workspace.save(&plan, &Edit::Replace("## Steps\n\none\nfour\n".into())).unwrap();
        assert_eq!(workspace.text(&plan).unwrap(), "mine\n\n## Steps\n\none\nfour\n");
        let four = Edit::Substitute { old: "four".into(), new: "five".into() };
        workspace.save(&plan, &four).unwrap();
        assert_eq!(workspace.text(&plan).unwrap(), "mine\n\n## Steps\n\none\nfive\n");
        assert!(workspace.save(&plan, &four).unwrap_err().to_string().contains("not there"));
    }

    #[test]
    fn a_file_that_was_there_before_us_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        let plan = Path::new("plan.md").unwrap();
        std::fs::write(folder.path().join("plan.md"), "my own plan").unwrap();
        let saved = workspace.save(&plan, &Edit::Replace("# Plan\n\none\n".into())).unwrap();
        assert_eq!(saved.outside, Some(Hash::of(b"my own plan")));
        workspace.save(&plan, &Edit::Replace("# Plan\n\ntwo\n".into())).unwrap();
        assert_eq!(workspace.text(&plan).unwrap(), "my own plan\n\n# Plan\n\ntwo\n");
    }

    #[test]
    fn a_save_that_was_killed_is_made_again_without_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        let notes = Path::new("lessons.md").unwrap();
        workspace.save(&notes, &Edit::Append("- one".into())).unwrap();
        let record = std::fs::read(workspace.record_place(&notes)).unwrap();
        let second = Edit::Append("- two".into());
        workspace.save(&notes, &second).unwrap();
        // As if the process had died between the exchange of the file and its record.
        let mut dying: Record = serde_json::from_slice(&record).unwrap();
        dying.next = workspace.hash(&notes).unwrap().unwrap();
        workspace.write_record(&notes, &dying).unwrap();
        assert_eq!(workspace.outside_edit(&notes).unwrap(), None);
        let saved = workspace.save(&notes, &second).unwrap();
        assert_eq!((saved.changed, saved.outside), (false, None));
        assert_eq!(workspace.text(&notes).unwrap(), "- one\n- two\n");
    }
}
