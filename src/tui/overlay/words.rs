//! Words asked for: why a call is turned down.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::base::CallId;
use crate::tui::slot::Slot;
use crate::tui::view::View;
use crate::tui::widget::{Editor, boxed, put, span};

pub(crate) struct Words {
    pub call: CallId,
    pub editor: Editor,
}

const MOST_ROWS: usize = 6;

impl Words {
    pub(crate) fn new(call: CallId) -> Self {
        Self { call, editor: Editor::default() }
    }

    /// What is sent when nothing was written.
    pub(crate) fn why(&mut self) -> String {
        let why = self.editor.take().trim().to_owned();
        if why.is_empty() { "no reason was given".to_owned() } else { why }
    }

    /// Draws over the lower edge of `area`; returns where the cursor is.
    pub(crate) fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) -> Position {
        let theme = view.theme;
        let laid = self.editor.lay(usize::from(area.width.saturating_sub(4)));
        let height = (laid.rows.len().min(MOST_ROWS) as u16 + 3).min(area.height);
        let place = Rect::new(area.x, area.bottom() - height, area.width, height);
        let styles = (theme.of(Slot::Text), theme.of(Slot::RuleFocused));
        let title = ("why not? the agent goes on from your words", theme.of(Slot::Accent));
        let inner = boxed(buffer, place, title, styles);
        let rows = usize::from(inner.height.saturating_sub(1));
        let from = (laid.cursor.0 + 1).saturating_sub(rows);
        for (y, row) in laid.rows[from..].iter().take(rows).enumerate() {
            let at = (inner.x, inner.y + y as u16);
            put(buffer, at, inner.width, &[span(row.clone(), theme.of(Slot::Text))]);
        }
        let keys = [
            span("enter", theme.of(Slot::Key)),
            span(" reject with these words  ", theme.of(Slot::Dim)),
            span("esc", theme.of(Slot::Key)),
            span(" back", theme.of(Slot::Dim)),
        ];
        put(buffer, (inner.x, inner.bottom().saturating_sub(1)), inner.width, &keys);
        let (row, cell) = (laid.cursor.0 - from, laid.cursor.1);
        Position::new(inner.x + cell as u16, inner.y + row as u16)
    }
}
