//! A change of one file as hunks that a person can take or leave one by one, and undo.

use super::diff::{Hunk, Line, Mark, hunks, lines};
use super::path::Path;
use crate::base::Finding;

const NO_END: &[u8] = b"\\ No newline at end of file";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    pub path: Path,
    pub hunks: Vec<Hunk>,
}

/// The file is not what the patch was made for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error(
        "hunk {number} of `{path}` does not fit: its lines are not there any more\n hint: read the file again, and make the change anew"
    )]
    Misfit { path: Path, number: usize },
    #[error("`{path}` has {hunks} hunks, none is number {number}")]
    Missing { path: Path, number: usize, hunks: usize },
}

impl Patch {
    pub fn of(path: Path, old: &[u8], new: &[u8]) -> Self {
        Self { path, hunks: hunks(old, new) }
    }

    pub fn is_empty(&self) -> bool {
        self.hunks.is_empty()
    }

    /// How many lines it adds, and how many it removes.
    pub fn counts(&self) -> (usize, usize) {
        let count = |mark| self.hunks.iter().map(|hunk| hunk.count(mark)).sum();
        (count(Mark::Added), count(Mark::Removed))
    }

    /// `plan.md +3 −1`.
    pub fn headline(&self) -> String {
        let (added, removed) = self.counts();
        format!("{} +{added} −{removed}", self.path)
    }

    /// The text after all hunks.
    pub fn apply(&self, text: &[u8]) -> Result<Vec<u8>, PatchError> {
        self.apply_chosen(text, |_| true)
    }

    /// The text after these hunks, counted from 0. The others stay undone.
    pub fn apply_hunks(&self, text: &[u8], chosen: &[u32]) -> Result<Vec<u8>, PatchError> {
        let missing = chosen.iter().map(|at| *at as usize).find(|at| *at >= self.hunks.len());
        if let Some(number) = missing {
            let (path, hunks) = (self.path.clone(), self.hunks.len());
            return Err(PatchError::Missing { path, number, hunks });
        }
        self.apply_chosen(text, |at| chosen.contains(&(at as u32)))
    }

    /// Each hunk goes where its old lines are: at its place, or at the nearest one after the hunk
    /// before it, since a person may have written above it meanwhile.
    fn apply_chosen(
        &self,
        text: &[u8],
        is_chosen: impl Fn(usize) -> bool,
    ) -> Result<Vec<u8>, PatchError> {
        let old = lines(text);
        let (mut fresh, mut done, mut moved) = (Vec::with_capacity(text.len()), 0, 0_isize);
        for (at, hunk) in self.hunks.iter().enumerate() {
            if !is_chosen(at) {
                continue;
            }
            let wanted: Vec<&[u8]> = hunk.before().collect();
            let expected = hunk.old_start.saturating_add_signed(moved);
            let Some(place) = place(&old, &wanted, done, expected) else {
                return Err(PatchError::Misfit { path: self.path.clone(), number: at + 1 });
            };
            moved = place.cast_signed() - hunk.old_start.cast_signed();
            old[done..place].iter().for_each(|line| fresh.extend_from_slice(line));
            hunk.after().for_each(|line| fresh.extend_from_slice(line));
            done = place + wanted.len();
        }
        old[done..].iter().for_each(|line| fresh.extend_from_slice(line));
        Ok(fresh)
    }

    /// What undoes it.
    pub fn invert(&self) -> Self {
        let turn = |line: &Line| Line {
            mark: match line.mark {
                Mark::Same => Mark::Same,
                Mark::Removed => Mark::Added,
                Mark::Added => Mark::Removed,
            },
            bytes: line.bytes.clone(),
        };
        let turned = self.hunks.iter().map(|hunk| {
            let lines = hunk.lines.iter().map(turn).collect();
            let (old_start, new_start) = (hunk.new_start, hunk.old_start);
            let mut hunk = Hunk { old_start, new_start, lines };
            hunk.settle();
            hunk
        });
        Self { path: self.path.clone(), hunks: turned.collect() }
    }

    /// The unified form that every tool reads. Bytes that are no text stay as they are.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("--- a/{0}\n+++ b/{0}\n", self.path).into_bytes();
        for hunk in &self.hunks {
            let range = |start: usize, count: usize| {
                // An empty side names the line before it.
                let first = if count == 0 { start } else { start + 1 };
                if count == 1 { format!("{first}") } else { format!("{first},{count}") }
            };
            let old = range(hunk.old_start, hunk.before().count());
            let new = range(hunk.new_start, hunk.after().count());
            bytes.extend_from_slice(format!("@@ -{old} +{new} @@\n").as_bytes());
            for line in &hunk.lines {
                bytes.push(match line.mark {
                    Mark::Same => b' ',
                    Mark::Removed => b'-',
                    Mark::Added => b'+',
                });
                bytes.extend_from_slice(&line.bytes);
                if !line.bytes.ends_with(b"\n") {
                    bytes.push(b'\n');
                    bytes.extend_from_slice(NO_END);
                    bytes.push(b'\n');
                }
            }
        }
        bytes
    }

    /// The unified form for a reader.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.to_bytes()).into_owned()
    }

    /// Reads the unified form of one file.
    pub fn parse(bytes: &[u8]) -> Result<Self, Finding> {
        let mut reader = Reader { path: None, hunks: Vec::new(), old_left: 0, new_left: 0 };
        for (number, line) in lines(bytes).into_iter().enumerate() {
            let place = || format!("the patch, line {}", number + 1);
            reader.line(line).map_err(|why| Finding::error(place(), why).rule("patch"))?;
        }
        if reader.old_left + reader.new_left > 0 {
            return Err(Finding::error("the patch", "its last hunk is cut short").rule("patch"));
        }
        let Some(path) = reader.path else {
            return Err(Finding::error("the patch", "it names no file").rule("patch"));
        };
        Ok(Self { path, hunks: reader.hunks })
    }
}

/// Where some lines are, from `from` on and as near to `expected` as can be.
fn place(old: &[&[u8]], wanted: &[&[u8]], from: usize, expected: usize) -> Option<usize> {
    let last = old.len().checked_sub(wanted.len())?;
    if wanted.is_empty() {
        return (from <= last).then(|| expected.clamp(from, last));
    }
    let fits = |at: usize| old[at..at + wanted.len()] == *wanted;
    let near = |at: &usize| at.abs_diff(expected);
    (from..=last).filter(|at| fits(*at)).min_by_key(near)
}

struct Reader {
    path: Option<Path>,
    hunks: Vec<Hunk>,
    /// The lines that the hunk being read still lacks.
    old_left: usize,
    new_left: usize,
}

impl Reader {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        if line.starts_with(NO_END) {
            let last = self.hunks.last_mut().and_then(|hunk| hunk.lines.last_mut());
            let last = last.ok_or("there is no line before it that may lack its end")?;
            last.bytes.pop();
            return Ok(());
        }
        if self.old_left + self.new_left > 0 {
            return self.content(line);
        }
        if let Some(header) = line.strip_prefix(b"@@ ") {
            return self.header(header);
        }
        if let Some(name) = line.strip_prefix(b"+++ ") {
            if self.path.is_some() {
                return Err("it changes a second file; a patch is for one".into());
            }
            let name = String::from_utf8_lossy(name);
            let name = name.trim_end();
            let path = Path::new(name.strip_prefix("b/").unwrap_or(name));
            self.path = Some(path.map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    fn header(&mut self, header: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(header);
        let mut words = text.split_whitespace();
        let mut side = |sign: char| side(words.next()?.strip_prefix(sign)?);
        let (Some(old), Some(new)) = (side('-'), side('+')) else {
            return Err(format!("`@@ {}` is no head of a hunk", text.trim_end()));
        };
        (self.old_left, self.new_left) = (old.1, new.1);
        self.hunks.push(Hunk { old_start: old.0, new_start: new.0, lines: Vec::new() });
        Ok(())
    }

    fn content(&mut self, line: &[u8]) -> Result<(), String> {
        let (mark, old, new) = match line.first() {
            Some(b' ') => (Mark::Same, 1, 1),
            Some(b'-') => (Mark::Removed, 1, 0),
            Some(b'+') => (Mark::Added, 0, 1),
            _ => return Err("a line of a hunk begins with ` `, `-` or `+`".into()),
        };
        let left = self.old_left.checked_sub(old).zip(self.new_left.checked_sub(new));
        let left = left.ok_or("the hunk has more lines than its head says")?;
        (self.old_left, self.new_left) = left;
        let hunk = self.hunks.last_mut().expect("a head was read before its lines");
        hunk.lines.push(Line { mark, bytes: line[1..].to_vec() });
        Ok(())
    }
}

/// `12,3`: the first line, counted from 0, and how many.
fn side(words: &str) -> Option<(usize, usize)> {
    let (first, count) = words.split_once(',').unwrap_or((words, "1"));
    let (first, count) = (first.parse::<usize>().ok()?, count.parse::<usize>().ok()?);
    let start = if count == 0 { first } else { first.checked_sub(1)? };
    Some((start, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path() -> Path {
        Path::new("program/prefill.toml").unwrap()
    }

    #[test]
    fn the_unified_form_is_what_others_write() {
        let old = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12";
        let new = b"1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n";
        let patch = Patch::of(path(), old, new);
        let expected = "--- a/program/prefill.toml\n+++ b/program/prefill.toml\n\
            @@ -2,11 +2,11 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n\
            \\ No newline at end of file\n+12\n";
        assert_eq!(patch.text(), expected);
        assert_eq!(patch.headline(), "program/prefill.toml +2 −2");
        assert_eq!(Patch::parse(expected.as_bytes()).unwrap(), patch);
        let made = Patch::of(path(), b"", b"a\n");
        assert!(made.text().ends_with("@@ -0,0 +1 @@\n+a\n"), "{}", made.text());
    }

    #[test]
    fn chosen_hunks_are_applied_and_no_others() {
        let old = (0..40).map(|line| line.to_string()).collect::<Vec<_>>().join("\r\n");
        let new = old.replace("5\r\n", "five\r\n").replacen("30\r\n", "", 1);
        let patch = Patch::of(path(), old.as_bytes(), new.as_bytes());
        let hunks = patch.hunks.len() as u32;
        assert!(hunks >= 3, "{hunks}");
        let first = patch.apply_hunks(old.as_bytes(), &[0]).unwrap();
        assert_eq!(first, old.replacen("5\r\n", "five\r\n", 1).as_bytes());
        let all: Vec<u32> = (0..hunks).collect();
        assert_eq!(patch.apply_hunks(old.as_bytes(), &all).unwrap(), new.as_bytes());
        let none = patch.apply_hunks(old.as_bytes(), &[]).unwrap();
        assert_eq!(none, old.as_bytes());
        let told = patch.apply_hunks(old.as_bytes(), &[9]).unwrap_err();
        assert!(matches!(told, PatchError::Missing { number: 9, .. }));
    }

    #[test]
    fn a_hunk_finds_its_lines_after_an_edit_above_and_refuses_other_lines() {
        let old = "a\nb\nc\nd\ne\n";
        let patch = Patch::of(path(), old.as_bytes(), b"a\nb\nC\nd\ne\n");
        let moved = format!("new\nlines\n{old}");
        let applied = patch.apply(moved.as_bytes()).unwrap();
        assert_eq!(applied, b"new\nlines\na\nb\nC\nd\ne\n");
        let told = patch.apply(b"a\nb\nx\nd\ne\n").unwrap_err();
        assert!(told.to_string().contains("hunk 1 of `program/prefill.toml` does not fit"));
        assert!(patch.apply(old.replace('\n', "\r\n").as_bytes()).is_err());
    }

    #[test]
    fn a_patch_that_is_none_says_where() {
        let check = |text: &str, words: &str| {
            let told = Patch::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(told.contains(words), "{told}");
        };
        check("", "names no file");
        check("+++ b/../x\n", "not a path inside");
        check("+++ b/x\n@@ -1 +1 @@\n-a\n", "cut short");
        check("+++ b/x\n@@ -1,x +1 @@\n", "line 2");
        check("+++ b/x\n@@ -1 +1 @@\n-a\n-b\n", "more lines");
        check("+++ b/x\n@@ -1 +1 @@\na\n", "begins with");
        check("+++ b/x\n+++ b/y\n", "second file");
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            Just(&b"a\n"[..]),
            Just(&b"b\r\n"[..]),
            Just(&b"\n"[..]),
            Just(&b"\\ No newline at end of file\n"[..]),
            Just(&b"\xff\xfe\0 not text\n"[..]),
            Just(&b"-- dashes\n"[..]),
            Just(&b"@@ -1 +1 @@\n"[..]),
            Just(&b"no end \xe9"[..]),
        ];
        proptest::collection::vec(line, 0..30).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn applied_and_inverted_it_is_as_before(old in texts(), new in texts()) {
            let patch = Patch::of(path(), &old, &new);
            prop_assert_eq!(&patch.apply(&old).unwrap(), &new);
            prop_assert_eq!(&patch.invert().apply(&new).unwrap(), &old);
            prop_assert_eq!(&patch.invert().invert(), &patch);
            prop_assert_eq!(&Patch::parse(&patch.to_bytes()).unwrap(), &patch);
        }

        #[test]
        fn hunks_taken_one_by_one_make_the_whole(old in texts(), new in texts()) {
            let patch = Patch::of(path(), &old, &new);
            let chosen: Vec<u32> = (0..patch.hunks.len() as u32).filter(|at| at % 2 == 0).collect();
            let some = patch.apply_hunks(&old, &chosen).unwrap();
            let rest = Patch::of(path(), &some, &new);
            prop_assert_eq!(rest.apply(&some).unwrap(), new);
        }
    }
}
