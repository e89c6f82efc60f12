//! A change of a text: hunks with line numbers, and the words within a line that differ.

use ratatui::text::{Line, Span};
use similar::{Algorithm, ChangeTag, TextDiff};

use super::text::{lines, one_line, pad_left, span, width};
use super::wrap::{Prefix, wrap};
use crate::tui::slot::Slot;
use crate::tui::theme::Theme;
use crate::workspace;
use crate::workspace::Mark;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Change {
    pub path: String,
    pub hunks: Vec<Hunk>,
    pub added: usize,
    pub removed: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hunk {
    /// The first line, counted from 1, before and after.
    old: usize,
    new: usize,
    lines: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
struct Piece {
    mark: Mark,
    old: Option<usize>,
    new: Option<usize>,
    /// Runs of text; the flag says that the run differs from the other side.
    runs: Vec<(bool, String)>,
}

/// Lines that share less are two lines, not one that was changed.
const ALIKE: f32 = 0.4;
/// Words of longer lines are not compared.
const MOST: usize = 2000;

impl Change {
    /// The hunks are those of `workspace::hunks`, so that a number means the same to a tool.
    pub(crate) fn between(path: &str, before: &str, after: &str) -> Self {
        let hunks = workspace::hunks(before.as_bytes(), after.as_bytes());
        let count = |mark| hunks.iter().map(|hunk| hunk.count(mark)).sum();
        let (added, removed) = (count(Mark::Added), count(Mark::Removed));
        let hunks = hunks.iter().map(Hunk::of).collect();
        Self { path: one_line(path), hunks, added, removed }
    }

    /// All rows, each with the hunk it belongs to; a line wider than `cells` takes more than one.
    /// `taken` puts a mark on every hunk's heading.
    pub(crate) fn rows(
        &self,
        theme: &Theme,
        cells: usize,
        taken: Option<&[bool]>,
        selected: Option<usize>,
    ) -> Vec<(usize, Line<'static>)> {
        let digits = self.digits();
        let mut rows = Vec::new();
        for (at, hunk) in self.hunks.iter().enumerate() {
            let mut head = Vec::new();
            let here = selected == Some(at);
            if selected.is_some() {
                head.push(span(if here { "▸ " } else { "  " }, theme.of(Slot::Accent)));
            }
            match taken.and_then(|taken| taken.get(at)) {
                Some(true) => head.push(span("[✓] ", theme.of(Slot::Good))),
                Some(false) => head.push(span("[ ] ", theme.of(Slot::Dim))),
                None => (),
            }
            let count = self.hunks.len();
            let words = format!("hunk {}/{count} · line {}", at + 1, hunk.old.max(hunk.new));
            head.push(span(words, theme.of(Slot::Hunk)));
            rows.push((at, Line::from(head)));
            let lines = hunk.lines.iter().flat_map(|piece| piece.rows(digits, theme, cells));
            rows.extend(lines.map(|line| (at, line)));
        }
        rows
    }

    fn digits(&self) -> usize {
        let last = |hunk: &Hunk| hunk.old.max(hunk.new) + hunk.lines.len();
        self.hunks.iter().map(last).max().unwrap_or(1).to_string().len()
    }
}

impl Hunk {
    fn of(hunk: &workspace::Hunk) -> Self {
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        let mut pieces: Vec<Piece> = Vec::new();
        for line in &hunk.lines {
            let text = String::from_utf8_lossy(&line.bytes).into_owned();
            let mut piece =
                Piece { mark: line.mark, old: None, new: None, runs: vec![(true, text)] };
            if line.mark != Mark::Added {
                old += 1;
                piece.old = Some(old);
            }
            if line.mark != Mark::Removed {
                new += 1;
                piece.new = Some(new);
            }
            pieces.push(piece);
        }
        for run in pieces.chunk_by_mut(|a, b| (a.mark == Mark::Same) == (b.mark == Mark::Same)) {
            let removed = run.iter().filter(|piece| piece.mark == Mark::Removed).count();
            let (gone, come) = run.split_at_mut(removed);
            gone.iter_mut().zip(come).for_each(|(gone, come)| compare(gone, come));
        }
        Self { old: hunk.old_start + 1, new: hunk.new_start + 1, lines: pieces }
    }
}

/// Marks the words in which two lines differ, if they are the same line at all.
fn compare(gone: &mut Piece, come: &mut Piece) {
    let (old, new) = (gone.runs[0].1.clone(), come.runs[0].1.clone());
    if old.len() + new.len() > MOST {
        return;
    }
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_words(&old, &new);
    if diff.ratio() < ALIKE {
        return;
    }
    (gone.runs, come.runs) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        let text = change.value();
        match change.tag() {
            ChangeTag::Delete => push(&mut gone.runs, true, text),
            ChangeTag::Insert => push(&mut come.runs, true, text),
            ChangeTag::Equal => {
                push(&mut gone.runs, false, text);
                push(&mut come.runs, false, text);
            }
        }
    }
}

fn push(runs: &mut Vec<(bool, String)>, differs: bool, text: &str) {
    match runs.last_mut() {
        Some((last, run)) if *last == differs => run.push_str(text),
        _ => runs.push((differs, text.to_owned())),
    }
}

impl Piece {
    fn rows(&self, digits: usize, theme: &Theme, cells: usize) -> Vec<Line<'static>> {
        let (sign, plain, strong) = match self.mark {
            Mark::Added => ("+ ", Slot::Added, Slot::AddedWord),
            Mark::Removed => ("− ", Slot::Removed, Slot::RemovedWord),
            Mark::Same => ("  ", Slot::Dim, Slot::Dim),
        };
        let number = |line: Option<usize>| line.map_or(String::new(), |line| line.to_string());
        let gutter = format!(
            "{} {} ",
            pad_left(&number(self.old), digits),
            pad_left(&number(self.new), digits)
        );
        let wide = width(&gutter);
        let mut first = vec![span(gutter, theme.of(Slot::Faint)), span(sign, theme.of(plain))];
        let mut spans = Vec::new();
        // All of a line differing says no more than the sign does.
        let all = self.runs.iter().all(|(differs, text)| *differs || text.trim().is_empty());
        for (differs, text) in &self.runs {
            let text = lines(text.trim_end_matches(['\n', '\r'])).concat();
            let style = theme.of(if *differs && !all { strong } else { plain });
            spans.push(Span::styled(text, style));
        }
        let all: usize = spans.iter().map(|span| width(&span.content)).sum();
        if wide + width(sign) + all <= cells {
            first.extend(spans);
            return vec![Line::from(first)];
        }
        let rest = vec![span(" ".repeat(wide), theme.of(Slot::Faint)), span("  ", theme.of(plain))];
        wrap(&spans, cells, &Prefix { first, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_lines() {
        let before = (1..30).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat();
        let after = before.replace("line 5\n", "line five\n").replace("line 20\n", "");
        let change = Change::between("program/prefill.toml", &before, &after);
        assert_eq!([change.added, change.removed, change.hunks.len()], [1, 2, 2]);
        let rows = change.rows(&Theme::default(), 80, Some(&[true, false]), Some(1));
        let shown: Vec<String> = rows.iter().map(|(_, line)| line.to_string()).collect();
        assert_eq!(shown[0], "  [✓] hunk 1/2 · line 2");
        assert_eq!(shown[4], " 5    − line 5");
        assert_eq!(shown[5], "    5 + line five");
        assert!(shown.contains(&"▸ [ ] hunk 2/2 · line 17".to_owned()), "{shown:#?}");
        let theme = Theme::default();
        let words: Vec<&str> = rows[5]
            .1
            .spans
            .iter()
            .filter(|span| span.style == theme.of(Slot::AddedWord))
            .map(|span| span.content.as_ref())
            .collect();
        assert_eq!(words, ["five"]);
    }

    #[test]
    fn no_line_acts_on_the_terminal() {
        let change = Change::between("a", "x\n", "x\r\n\x1b[2J\n");
        for (_, line) in change.rows(&Theme::default(), 80, None, None) {
            assert!(!line.to_string().chars().any(char::is_control), "{line:?}");
        }
    }
}
