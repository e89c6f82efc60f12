//! Tables of Markdown: wide where there is room, wrapped cells where there is not.

use pulldown_cmark::Alignment;
use ratatui::text::Span;

use super::text::{span, width};
use super::wrap::{Prefix, wrap};
use crate::tui::slot::Slot;
use crate::tui::theme::Theme;

pub(crate) struct Table {
    aligned: Vec<Alignment>,
    rows: Vec<Vec<Vec<Span<'static>>>>,
}

/// Below this a wrapped column is hard to read.
const LEAST: usize = 7;
/// What a column may take at most when the table is scrolled anyway.
const MOST: usize = 36;
const BETWEEN: usize = 3;

impl Table {
    pub(crate) fn new(aligned: Vec<Alignment>) -> Self {
        Self { aligned, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(crate) fn cell(&mut self, spans: Vec<Span<'static>>) {
        if let Some(row) = self.rows.last_mut() {
            row.push(spans);
        }
    }

    /// The lines of the table, none wider than `room` if that can be done well.
    pub(crate) fn rows(&self, room: usize, theme: &Theme) -> Vec<Vec<Span<'static>>> {
        let widths = self.widths(room);
        let mut out = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            out.extend(self.lines(row, &widths, at == 0, theme));
            if at == 0 {
                let dashes: Vec<String> = widths.iter().map(|cells| "─".repeat(*cells)).collect();
                out.push(vec![span(dashes.join("─┼─"), theme.of(Slot::Rule))]);
            }
        }
        out
    }

    fn widths(&self, room: usize) -> Vec<usize> {
        let columns = self.aligned.len();
        let mut natural = vec![1; columns];
        let mut least = vec![1; columns];
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate().take(columns) {
                let text: String = cell.iter().map(|span| span.content.as_ref()).collect();
                let longest = text.split('\n').map(width).max().unwrap_or_default();
                natural[at] = natural[at].max(longest);
                let word = text.split([' ', '\n']).map(width).max().unwrap_or_default();
                least[at] = least[at].max(word);
            }
        }
        let between = BETWEEN * columns.saturating_sub(1);
        let fits = |widths: &[usize]| widths.iter().sum::<usize>() + between <= room;
        if fits(&natural) {
            return natural;
        }
        // Lower the widest columns first, down to a common height, but not below a long word.
        for cap in (LEAST..=room.max(LEAST)).rev() {
            let floor = |at: usize| least[at].min(2 * LEAST);
            let capped: Vec<usize> =
                (0..columns).map(|at| natural[at].min(cap.max(floor(at)))).collect();
            if fits(&capped) {
                return capped;
            }
        }
        natural.iter().map(|cells| (*cells).min(MOST)).collect()
    }

    fn lines(
        &self,
        row: &[Vec<Span<'static>>],
        widths: &[usize],
        head: bool,
        theme: &Theme,
    ) -> Vec<Vec<Span<'static>>> {
        let wrapped: Vec<_> = widths
            .iter()
            .enumerate()
            .map(|(at, cells)| {
                let cell = row.get(at).map(Vec::as_slice).unwrap_or_default();
                wrap(cell, *cells, &Prefix::default())
            })
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or_default();
        let bar = span(" │ ", theme.of(Slot::Rule));
        let mut out = Vec::with_capacity(height);
        for y in 0..height {
            let mut line = Vec::new();
            for (at, cells) in widths.iter().enumerate() {
                if at > 0 {
                    line.push(bar.clone());
                }
                let empty = Vec::new();
                let spans = wrapped[at].get(y).map_or(&empty, |line| &line.spans);
                let used: usize = spans.iter().map(|span| width(&span.content)).sum();
                let free = cells.saturating_sub(used);
                let before = match self.aligned[at] {
                    Alignment::Right => free,
                    Alignment::Center => free / 2,
                    Alignment::Left | Alignment::None => 0,
                };
                line.push(Span::raw(" ".repeat(before)));
                for part in spans {
                    let style =
                        if head { part.style.patch(theme.of(Slot::Title)) } else { part.style };
                    line.push(Span::styled(part.content.clone(), style));
                }
                line.push(Span::raw(" ".repeat(free - before)));
            }
            out.push(line);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::markdown::render;
    use crate::tui::theme::Theme;

    fn shown(text: &str, cells: usize) -> Vec<String> {
        let page = render(text, cells, &Theme::default());
        page.rows.iter().map(|row| row.line.to_string().trim_end().to_owned()).collect()
    }

    const TABLE: &str = "| step | time |\n|---|---:|\n| naive program | 184.2 |\n| 가나다 | 9 |\n";

    #[test]
    fn a_table_that_fits_is_aligned() {
        let expected = [
            "step          │  time",
            "──────────────┼──────",
            "naive program │ 184.2",
            "가나다        │     9",
        ];
        assert_eq!(shown(TABLE, 40), expected);
    }

    #[test]
    fn a_table_that_does_not_fit_wraps_its_cells() {
        let rows = shown(TABLE, 16);
        assert_eq!(rows[2], "naive    │ 184.2", "{rows:#?}");
        assert_eq!(rows[3], "program  │", "{rows:#?}");
    }

    #[test]
    fn many_columns_scroll_instead_of_splintering() {
        let row = "| a long cell of words ".repeat(17) + "|\n";
        let text = format!("{row}{}|\n{row}", "|---".repeat(17));
        let page = render(&text, 80, &Theme::default());
        assert!(page.widest > 80 && page.rows.iter().all(|row| row.wide), "{}", page.widest);
        assert_eq!(page.rows.len(), 3);
    }
}
