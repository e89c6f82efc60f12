//! A change of a text: hunks with line numbers, and the words within a line that differ.

use std::time::Duration;

use ratatui::text::{Line, Span};
use similar::{ChangeTag, TextDiff};

use super::text::{lines, one_line, pad_left, span};
use crate::base::plural;
use crate::tui::slot::Slot;
use crate::tui::theme::Theme;

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
    tag: ChangeTag,
    old: Option<usize>,
    new: Option<usize>,
    /// Runs of text; the flag says that the run differs from the other side.
    runs: Vec<(bool, String)>,
}

/// Lines that are shown around what changed.
const CONTEXT: usize = 3;
/// A diff that takes longer is finished roughly.
const PATIENCE: Duration = Duration::from_millis(300);

impl Change {
    pub(crate) fn between(path: &str, before: &str, after: &str) -> Self {
        let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before, after);
        let mut change = Self { path: one_line(path), ..Self::default() };
        for group in diff.grouped_ops(CONTEXT) {
            let Some(first) = group.first() else { continue };
            let (old, new) = (first.old_range().start + 1, first.new_range().start + 1);
            let mut lines = Vec::new();
            for piece in group.iter().flat_map(|op| diff.iter_inline_changes(op)) {
                let runs = piece.iter_strings_lossy();
                let runs = runs.map(|(differs, text)| (differs, text.into_owned())).collect();
                match piece.tag() {
                    ChangeTag::Insert => change.added += 1,
                    ChangeTag::Delete => change.removed += 1,
                    ChangeTag::Equal => (),
                }
                let (old, new) = (piece.old_index(), piece.new_index());
                lines.push(Piece { tag: piece.tag(), old, new, runs });
            }
            change.hunks.push(Hunk { old, new, lines });
        }
        change
    }

    /// `+9 −23 in 2 hunks`.
    pub(crate) fn size(&self) -> String {
        format!("+{} −{} in {}", self.added, self.removed, plural(self.hunks.len(), "hunk"))
    }

    /// All rows, each with the hunk it belongs to. `taken` puts a mark on every hunk's heading.
    pub(crate) fn rows(
        &self,
        theme: &Theme,
        taken: Option<&[bool]>,
        selected: Option<usize>,
    ) -> Vec<(usize, Line<'static>)> {
        let digits = self.digits();
        let mut rows = Vec::new();
        for (at, hunk) in self.hunks.iter().enumerate() {
            let mut head = Vec::new();
            let here = selected == Some(at);
            head.push(span(if here { "▸ " } else { "  " }, theme.of(Slot::Accent)));
            match taken.and_then(|taken| taken.get(at)) {
                Some(true) => head.push(span("[✓] ", theme.of(Slot::Good))),
                Some(false) => head.push(span("[ ] ", theme.of(Slot::Dim))),
                None => (),
            }
            let count = self.hunks.len();
            let words = format!("hunk {}/{count} · line {}", at + 1, hunk.old.max(hunk.new));
            head.push(span(words, theme.of(Slot::Hunk)));
            rows.push((at, Line::from(head)));
            rows.extend(hunk.lines.iter().map(|piece| (at, piece.row(digits, theme))));
        }
        rows
    }

    fn digits(&self) -> usize {
        let last = |hunk: &Hunk| hunk.old.max(hunk.new) + hunk.lines.len();
        self.hunks.iter().map(last).max().unwrap_or(1).to_string().len()
    }
}

impl Piece {
    fn row(&self, digits: usize, theme: &Theme) -> Line<'static> {
        let (sign, plain, strong) = match self.tag {
            ChangeTag::Insert => ("+ ", Slot::Added, Slot::AddedWord),
            ChangeTag::Delete => ("− ", Slot::Removed, Slot::RemovedWord),
            ChangeTag::Equal => ("  ", Slot::Dim, Slot::Dim),
        };
        let number =
            |line: Option<usize>| line.map_or(String::new(), |line| (line + 1).to_string());
        let gutter = format!(
            "{} {} ",
            pad_left(&number(self.old), digits),
            pad_left(&number(self.new), digits)
        );
        let mut spans = vec![span(gutter, theme.of(Slot::Faint)), span(sign, theme.of(plain))];
        // All of a line differing says no more than the sign does.
        let all = self.runs.iter().all(|(differs, text)| *differs || text.trim().is_empty());
        for (differs, text) in &self.runs {
            let text = lines(text).concat();
            let style = theme.of(if *differs && !all { strong } else { plain });
            spans.push(Span::styled(text, style));
        }
        Line::from(spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_lines() {
        let before: String = (1..30).map(|line| format!("line {line}\n")).collect();
        let after = before.replace("line 5\n", "line five\n").replace("line 20\n", "");
        let change = Change::between("program/prefill.toml", &before, &after);
        assert_eq!(change.size(), "+1 −2 in 2 hunks");
        let rows = change.rows(&Theme::default(), Some(&[true, false]), Some(1));
        let shown: Vec<String> = rows.iter().map(|(_, line)| line.to_string()).collect();
        assert_eq!(shown[0], "  [✓] hunk 1/2 · line 2");
        assert_eq!(shown[4], " 5    − line 5");
        assert_eq!(shown[5], "    5 + line five");
        assert!(shown.contains(&"▸ [ ] hunk 2/2 · line 17".to_owned()), "{shown:#?}");
    }

    #[test]
    fn no_line_acts_on_the_terminal() {
        let change = Change::between("a", "x\n", "x\r\n\x1b[2J\n");
        for (_, line) in change.rows(&Theme::default(), None, None) {
            assert!(!line.to_string().chars().any(char::is_control), "{line:?}");
        }
    }
}
