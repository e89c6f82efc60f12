//! Rows of which some can be selected, and the selected one opened in place.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::scroll::Scroll;
use crate::tui::action::Action;
use crate::tui::slot::Slot;
use crate::tui::view::View;
use crate::tui::widget::{put, scrollbar};

#[derive(Default)]
pub(crate) struct List {
    pub selected: usize,
    /// The selected item is open: it moves with the selection.
    open: bool,
    count: usize,
    scroll: Scroll,
    /// Each row, with the item that it begins.
    rows: Vec<(Option<usize>, Line<'static>)>,
    /// The selection moved: its rows must be shown.
    moved: bool,
}

/// How far a page moves the selection.
const PAGE: usize = 8;

impl List {
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Selects an item that nobody asked for by key.
    pub(crate) fn select(&mut self, item: usize) {
        self.moved |= item != self.selected;
        self.selected = item;
    }

    pub(crate) fn act(&mut self, action: Action) {
        let last = self.count.saturating_sub(1);
        // Where nothing can be selected, and within what is open and long, moving is scrolling.
        if self.count == 0 {
            self.scroll.act(action);
            return;
        }
        let to = match action {
            Action::Down | Action::NextSection => self.selected + 1,
            Action::Up | Action::PreviousSection => self.selected.saturating_sub(1),
            Action::PageDown | Action::PageUp if self.open => {
                self.scroll.act(action);
                return;
            }
            Action::PageDown => self.selected + PAGE,
            Action::PageUp => self.selected.saturating_sub(PAGE),
            Action::Top => 0,
            Action::Bottom => last,
            Action::Open => {
                self.open = !self.open;
                self.selected
            }
            _ => return,
        };
        self.selected = to.min(last);
        self.moved = true;
    }

    pub(crate) fn fit(
        &mut self,
        rows: Vec<(Option<usize>, Line<'static>)>,
        count: usize,
        height: usize,
    ) {
        (self.rows, self.count) = (rows, count);
        self.selected = self.selected.min(count.saturating_sub(1));
        self.scroll.fit(self.rows.len(), height);
        if std::mem::take(&mut self.moved) {
            let first = self.rows.iter().position(|(item, _)| *item == Some(self.selected));
            if let Some(first) = first {
                let after = self.rows[first + 1..].iter().position(|(item, _)| item.is_some());
                let end = after.map_or(self.rows.len(), |rows| first + 1 + rows);
                let from = if self.selected == 0 { 0 } else { first };
                self.scroll.show(end.saturating_sub(1).max(first));
                self.scroll.show(from);
            }
        }
    }

    pub(crate) fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) {
        let theme = view.theme;
        for (y, row) in self.scroll.rows().enumerate() {
            let (item, line) = &self.rows[row];
            let y = area.y + y as u16;
            if *item == Some(self.selected) && view.focused {
                let row = Rect::new(area.x, y, area.width.saturating_sub(1), 1);
                buffer.set_style(row.intersection(buffer.area), theme.of(Slot::Selected));
            }
            put(buffer, (area.x, y), area.width.saturating_sub(1), &line.spans);
        }
        scrollbar(buffer, area, self.scroll.bar(), theme.of(Slot::Faint));
    }
}
