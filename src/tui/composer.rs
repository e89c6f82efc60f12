//! Where a person writes to the agent: a draft that nothing on the screen takes away.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::slot::Slot;
use super::theme::Theme;
use super::widget::{Editor, put, span};

#[derive(Default)]
pub(super) struct Composer {
    pub editor: Editor,
    /// What was sent before, oldest first.
    sent: Vec<String>,
    /// Which of it is shown, and what was being written before.
    recalled: Option<(usize, String)>,
}

const MOST_ROWS: usize = 6;
/// A longer draft is not laid out whole: what is near its end is.
const MOST_SHOWN: usize = 20_000;

impl Composer {
    pub(super) fn remember(&mut self, words: &str) {
        if self.sent.last().is_none_or(|last| last != words) {
            self.sent.push(words.to_owned());
        }
    }

    /// What is to be sent, if anything was written.
    pub(super) fn send(&mut self) -> Option<String> {
        if self.editor.text().trim().is_empty() {
            return None;
        }
        self.recalled = None;
        let words = self.editor.take().trim().to_owned();
        self.remember(&words);
        Some(words)
    }

    pub(super) fn older(&mut self) {
        let from = self.recalled.as_ref().map_or(self.sent.len(), |(at, _)| *at);
        let Some(at) = from.checked_sub(1) else { return };
        let draft = match self.recalled.take() {
            Some((_, draft)) => draft,
            None => self.editor.take(),
        };
        self.editor.set(self.sent[at].clone());
        self.recalled = Some((at, draft));
    }

    pub(super) fn newer(&mut self) {
        let Some((at, draft)) = self.recalled.take() else { return };
        match self.sent.get(at + 1) {
            Some(words) => {
                self.editor.set(words.clone());
                self.recalled = Some((at + 1, draft));
            }
            None => self.editor.set(draft),
        }
    }

    pub(super) fn is_recalling(&self) -> bool {
        self.recalled.is_some()
    }

    pub(super) fn rows(&self, cells: usize) -> u16 {
        if self.editor.text().len() > MOST_SHOWN {
            return 1;
        }
        let rows = self.editor.lay(cells.saturating_sub(3)).rows.len();
        rows.min(MOST_ROWS) as u16
    }

    pub(super) fn draw(
        &self,
        theme: &Theme,
        area: Rect,
        buffer: &mut Buffer,
        focused: bool,
    ) -> Position {
        let mark = theme.of(if focused { Slot::Accent } else { Slot::Faint });
        put(buffer, (area.x, area.y), 2, &[span("› ", mark)]);
        let room = Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area };
        if self.editor.is_blank() {
            let words = "say something, or / for commands";
            put(buffer, (room.x, room.y), room.width, &[span(words, theme.of(Slot::Faint))]);
            return Position::new(room.x, room.y);
        }
        let text = self.editor.text();
        if text.len() > MOST_SHOWN {
            let words =
                format!("{} characters, {} lines", text.chars().count(), text.lines().count());
            let end =
                put(buffer, (room.x, room.y), room.width, &[span(words, theme.of(Slot::Text))]);
            return Position::new(end, room.y);
        }
        let laid = self.editor.lay(usize::from(area.width.saturating_sub(3)));
        let rows = usize::from(room.height);
        let from = (laid.cursor.0 + 1).saturating_sub(rows);
        let style = theme.of(if focused { Slot::Text } else { Slot::Dim });
        for (y, row) in laid.rows[from..].iter().take(rows).enumerate() {
            put(buffer, (room.x, room.y + y as u16), room.width, &[span(row.clone(), style)]);
        }
        let (row, cell) = (laid.cursor.0 - from, laid.cursor.1);
        Position::new(room.x + cell as u16, room.y + row as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_messages_come_back_and_the_draft_too() {
        let mut composer = Composer::default();
        for words in ["one", "two"] {
            composer.editor.set(words);
            assert_eq!(composer.send().as_deref(), Some(words));
        }
        composer.editor.set("draft");
        composer.older();
        assert_eq!(composer.editor.text(), "two");
        composer.older();
        composer.older();
        assert_eq!(composer.editor.text(), "one");
        composer.newer();
        composer.newer();
        assert_eq!(composer.editor.text(), "draft");
        composer.editor.set("  \n ");
        assert_eq!(composer.send(), None);
    }
}
