//! An artifact on the whole screen: a change with its colours, or any text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::base::ArtifactId;
use crate::tui::action::Action;
use crate::tui::load::{Got, Wanted};
use crate::tui::pane::Scroll;
use crate::tui::slot::Slot;
use crate::tui::view::View;
use crate::tui::widget::{boxed, cut, fill, lines, one_line, put, scrollbar, span};

pub(crate) struct Pager {
    title: String,
    artifact: ArtifactId,
    scroll: Scroll,
    rows: Vec<String>,
    loaded: bool,
}

impl Pager {
    pub(crate) fn new(title: String, artifact: ArtifactId) -> Self {
        Self { title, artifact, scroll: Scroll::default(), rows: Vec::new(), loaded: false }
    }

    pub(crate) fn wants(&self) -> Wanted {
        Wanted::Text(self.artifact.clone())
    }

    pub(crate) fn act(&mut self, action: Action) {
        self.scroll.act(action);
    }

    pub(crate) fn fit(&mut self, area: Rect, view: &View<'_>) {
        if !self.loaded {
            self.rows = match view.loaded.get(&self.wants()) {
                Some(Got::Text(text)) => {
                    self.loaded = true;
                    lines(text)
                }
                Some(Got::Missing(why)) => vec![one_line(why)],
                _ => vec!["reading …".to_owned()],
            };
        }
        self.scroll.fit(self.rows.len(), usize::from(area.height.saturating_sub(2)));
    }

    pub(crate) fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) {
        let theme = view.theme;
        fill(buffer, area, theme.of(Slot::Text));
        let title = format!("{} · esc closes", cut(&self.title, 60));
        let styles = (theme.of(Slot::Text), theme.of(Slot::RuleFocused));
        let inner = boxed(buffer, area, (&title, theme.of(Slot::Accent)), styles);
        for (y, row) in self.scroll.rows().enumerate() {
            let row = &self.rows[row];
            let slot = match row.as_bytes().first() {
                Some(b'+') => Slot::Added,
                Some(b'-') => Slot::Removed,
                Some(b'@') => Slot::Hunk,
                _ => Slot::Text,
            };
            let at = (inner.x, inner.y + y as u16);
            put(buffer, at, inner.width, &[span(row.clone(), theme.of(slot))]);
        }
        scrollbar(buffer, inner, self.scroll.bar(), theme.of(Slot::Dim));
    }
}
