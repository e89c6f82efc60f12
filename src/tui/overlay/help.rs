//! The keys, by place: made from the tables of actions and keys, so that it is never wrong.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::tui::action::Action;
use crate::tui::keymap::{Context, Keymap, written};
use crate::tui::pane::Scroll;
use crate::tui::slot::Slot;
use crate::tui::theme::Theme;
use crate::tui::view::View;
use crate::tui::widget::{Prefix, boxed, pad_right, put, scrollbar, span, width, wrap};

#[derive(Default)]
pub(crate) struct Help {
    scroll: Scroll,
    rows: Vec<Line<'static>>,
}

/// Cells of the keys, before the words.
const KEYS: usize = 22;
/// From this width on, two columns.
const WIDE: usize = 132;

impl Help {
    pub(crate) fn act(&mut self, action: Action) {
        self.scroll.act(action);
    }

    pub(crate) fn fit(&mut self, area: Rect, view: &View<'_>) {
        let cells = usize::from(area.width.saturating_sub(5));
        let column = if cells >= WIDE { cells / 2 - 2 } else { cells };
        let groups: Vec<Vec<Line<'static>>> = Context::ALL
            .iter()
            .map(|context| group(*context, view.keymap, view.theme, column))
            .filter(|lines| lines.len() > 2)
            .collect();
        self.rows = if cells >= WIDE { two_columns(groups, cells / 2) } else { groups.concat() };
        self.scroll.fit(self.rows.len(), usize::from(area.height.saturating_sub(2)));
    }

    pub(crate) fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) {
        let theme = view.theme;
        let title = ("keys · esc closes", theme.of(Slot::Accent));
        let styles = (theme.of(Slot::Text), theme.of(Slot::RuleFocused));
        let inner = boxed(buffer, area, title, styles);
        for (y, row) in self.scroll.rows().enumerate() {
            let at = (inner.x, inner.y + y as u16);
            put(buffer, at, inner.width, &self.rows[row].spans);
        }
        scrollbar(buffer, area_of_bar(area), self.scroll.bar(), theme.of(Slot::Dim));
    }
}

fn area_of_bar(area: Rect) -> Rect {
    Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area }
}

/// A heading and one row for each action, with all keys that reach it.
fn group(context: Context, keymap: &Keymap, theme: &Theme, cells: usize) -> Vec<Line<'static>> {
    let mut rows: Vec<(Action, String)> = Vec::new();
    for row in keymap.rows().filter(|row| row.context == context) {
        let keys = written(row);
        match rows.iter_mut().find(|(action, _)| *action == row.action) {
            Some((_, all)) => all.extend([", ", &keys]),
            None => rows.push((row.action, keys)),
        }
    }
    let mut lines = vec![Line::from(span(context.title(), theme.of(Slot::Heading)))];
    for (action, keys) in rows {
        let first = vec![span(pad_right(&format!("  {keys}"), KEYS), theme.of(Slot::Key))];
        let rest = vec![span(" ".repeat(KEYS), theme.of(Slot::Text))];
        let doc = [span(action.doc(), theme.of(Slot::Text))];
        lines.extend(wrap(&doc, cells, &Prefix { first, rest }));
    }
    lines.push(Line::default());
    lines
}

/// Whole groups, the left column filled up to half of all rows.
fn two_columns(groups: Vec<Vec<Line<'static>>>, cells: usize) -> Vec<Line<'static>> {
    let all: usize = groups.iter().map(Vec::len).sum();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for group in groups {
        if left.len() + group.len() / 2 < all.div_ceil(2) {
            left.extend(group);
        } else {
            right.extend(group);
        }
    }
    let rows = left.len().max(right.len());
    left.resize(rows, Line::default());
    right.resize(rows, Line::default());
    left.into_iter()
        .zip(right)
        .map(|(mut left, right)| {
            let used: usize = left.spans.iter().map(|span| width(&span.content)).sum();
            left.spans.push(" ".repeat(cells.saturating_sub(used)).into());
            left.spans.extend(right.spans);
            left
        })
        .collect()
}
