//! Everything that can be done, found by a few letters.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::session::Autonomy;
use crate::tui::action::Action;
use crate::tui::keymap::Context;
use crate::tui::pane::Scroll;
use crate::tui::slot::Slot;
use crate::tui::view::View;
use crate::tui::widget::{Editor, boxed, cut, pad_left, pad_right, put, rank, scrollbar, span};

/// What a person picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Picked {
    Act(Action),
    Autonomy(Autonomy),
}

pub(crate) struct Palette {
    pub editor: Editor,
    /// What can be done here and now.
    offered: Vec<(Picked, String)>,
    found: Vec<usize>,
    selected: usize,
    scroll: Scroll,
    searched: Option<String>,
}

impl Palette {
    pub(crate) fn new(actions: impl Iterator<Item = Action>) -> Self {
        let actions = actions
            .map(|action| (Picked::Act(action), format!("{} · {}", action.name(), action.doc())));
        let stops = Autonomy::ALL
            .into_iter()
            .map(|stop| (Picked::Autonomy(stop), format!("autonomy {stop} · {}", stop.doc())));
        let offered = actions.chain(stops).collect();
        Self {
            editor: Editor::default(),
            offered,
            found: Vec::new(),
            selected: 0,
            scroll: Scroll::default(),
            searched: None,
        }
    }

    pub(crate) fn picked(&self) -> Option<Picked> {
        self.found.get(self.selected).map(|at| self.offered[*at].0)
    }

    pub(crate) fn act(&mut self, action: Action) {
        let last = self.found.len().saturating_sub(1);
        let page = self.scroll.height.max(1);
        let to = match action {
            Action::Down => self.selected + 1,
            Action::Up => self.selected.saturating_sub(1),
            Action::PageDown => self.selected + page,
            Action::PageUp => self.selected.saturating_sub(page),
            _ => return,
        };
        self.selected = to.min(last);
    }

    pub(crate) fn fit(&mut self, height: u16) {
        if self.searched.as_deref() != Some(self.editor.text()) {
            self.found =
                rank(self.editor.text(), self.offered.iter().map(|(_, words)| words.as_str()));
            self.searched = Some(self.editor.text().to_owned());
            self.selected = 0;
        }
        self.scroll.fit(self.found.len(), usize::from(height.saturating_sub(4)));
        self.scroll.show(self.selected);
    }

    pub(crate) fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) -> Position {
        let theme = view.theme;
        let title = ("what should be done?", theme.of(Slot::Accent));
        let styles = (theme.of(Slot::Text), theme.of(Slot::RuleFocused));
        let inner = boxed(buffer, area, title, styles);
        let typed = self.editor.text().to_owned();
        let asked = [span("› ", theme.of(Slot::Accent)), span(typed, theme.of(Slot::Text))];
        let cursor = put(buffer, (inner.x, inner.y), inner.width, &asked);
        let body = Rect { y: inner.y + 2, height: inner.height.saturating_sub(2), ..inner };
        if self.found.is_empty() {
            let words = span("nothing that can be done here is called so", theme.of(Slot::Dim));
            put(buffer, (body.x, body.y), body.width, &[words]);
        }
        for (y, row) in self.scroll.rows().enumerate() {
            let y = body.y + y as u16;
            let (picked, words) = &self.offered[self.found[row]];
            if row == self.selected {
                let line = Rect::new(body.x, y, body.width, 1).intersection(buffer.area);
                buffer.set_style(line, theme.of(Slot::Selected));
            }
            let keys = match picked {
                Picked::Act(action) => view.keymap.keys_of(Context::ALL, *action),
                Picked::Autonomy(_) => None,
            };
            let keys = keys.unwrap_or_default();
            let room = usize::from(body.width).saturating_sub(14);
            let (name, doc) = words.split_once(" · ").unwrap_or((words, ""));
            let name = format!("{} ", pad_right(name, 18));
            let spans = [
                span(name, theme.of(Slot::Text)),
                span(
                    pad_right(&cut(doc, room.saturating_sub(19)), room.saturating_sub(19)),
                    theme.of(Slot::Dim),
                ),
                span(pad_left(&keys, 12), theme.of(Slot::Key)),
            ];
            put(buffer, (body.x, y), body.width.saturating_sub(1), &spans);
        }
        scrollbar(buffer, body, self.scroll.bar(), theme.of(Slot::Dim));
        Position::new(cursor.min(inner.right().saturating_sub(1)), inner.y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_letters_find_the_action() {
        let mut palette = Palette::new(Action::ALL.iter().copied());
        let check = |palette: &mut Palette, words: &str, expected: Picked| {
            palette.editor.set(words);
            palette.fit(24);
            assert_eq!(palette.picked(), Some(expected), "{words}");
        };
        check(&mut palette, "show traj", Picked::Act(Action::ShowTrajectory));
        check(&mut palette, "autonomy auto", Picked::Autonomy(Autonomy::Auto));
        check(&mut palette, "theme", Picked::Act(Action::OtherTheme));
        palette.editor.set("qqqq");
        palette.fit(24);
        assert_eq!(palette.picked(), None);
    }
}
