//! The hunks between two texts, line by line, in bytes: no line end and no encoding is touched.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Lines shown before and after a change.
const CONTEXT: usize = 3;

/// The most lines, of both sides, for which the smallest change is searched: that may take time
/// with the square of them. Beyond, all between the first and the last difference is one change.
const MOST: usize = 20_000;

/// In the order in which neighbours are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    Same,
    Removed,
    Added,
}

/// One line with the bytes of its end, if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub mark: Mark,
    pub bytes: Vec<u8>,
}

/// Neighbouring changes with the lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The first line of the old side and of the new side, counted from 0.
    pub old_start: usize,
    pub new_start: usize,
    pub lines: Vec<Line>,
}

impl Hunk {
    /// The lines of the old text that this covers.
    pub fn before(&self) -> impl Iterator<Item = &[u8]> {
        self.side(Mark::Added)
    }

    /// The lines of the new text that this covers.
    pub fn after(&self) -> impl Iterator<Item = &[u8]> {
        self.side(Mark::Removed)
    }

    fn side(&self, other: Mark) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().filter(move |line| line.mark != other).map(|line| &line.bytes[..])
    }

    /// Puts what is removed before what is added, between two lines that stay.
    pub(super) fn settle(&mut self) {
        let stays = |line: &Line| line.mark == Mark::Same;
        for run in self.lines.chunk_by_mut(|a, b| stays(a) == stays(b)) {
            run.sort_by_key(|line| line.mark);
        }
    }

    pub fn count(&self, mark: Mark) -> usize {
        self.lines.iter().filter(|line| line.mark == mark).count()
    }
}

/// The lines of a text, each with its line feed; what is before it is not looked at.
pub fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// What turns the old text into the new one: the same for the same texts, on any machine.
pub fn hunks(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    let (old, new) = (lines(old), lines(new));
    let is_small = old.len() + new.len() <= MOST;
    let ops = if is_small {
        capture_diff_slices(Algorithm::Myers, &old, &new)
    } else {
        coarse(&old, &new)
    };
    group_diff_ops(ops, CONTEXT).into_iter().map(|group| hunk(&group, &old, &new)).collect()
}

fn coarse(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = ends.take_while(|(old, new)| old == new).count();
    let (old_len, new_len) = (old_rest.len() - tail, new_rest.len() - tail);
    if old_len + new_len == 0 {
        return Vec::new();
    }
    let (old_end, new_end) = (head + old_len, head + new_len);
    vec![
        DiffOp::Equal { old_index: 0, new_index: 0, len: head },
        DiffOp::Replace { old_index: head, old_len, new_index: head, new_len },
        DiffOp::Equal { old_index: old_end, new_index: new_end, len: tail },
    ]
}

fn hunk(group: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) -> Hunk {
    let mut hunk = Hunk {
        old_start: group.first().map_or(0, |op| op.old_range().start),
        new_start: group.first().map_or(0, |op| op.new_range().start),
        lines: Vec::new(),
    };
    let mut take = |mark: Mark, from: &[&[u8]], range: Range<usize>| {
        let lines = from[range].iter().map(|bytes| Line { mark, bytes: bytes.to_vec() });
        hunk.lines.extend(lines);
    };
    for op in group {
        if let DiffOp::Equal { .. } = op {
            take(Mark::Same, old, op.old_range());
        } else {
            take(Mark::Removed, old, op.old_range());
            take(Mark::Added, new, op.new_range());
        }
    }
    hunk.settle();
    hunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_has_one_coarse_change() {
        let old: Vec<u8> = (0..MOST).flat_map(|line| format!("{line}\n").into_bytes()).collect();
        let new: String = String::from_utf8_lossy(&old).replace("\n77\n", "\nx\n");
        let new = new.replace("\n999\n", "\ny\n");
        let found = hunks(&old, new.as_bytes());
        assert_eq!((found.len(), found[0].old_start), (1, 74));
        assert_eq!(found[0].count(Mark::Removed), 923);
        assert_eq!(hunks(&old, &old), []);
    }
}
