//! A few lines of text under a cursor that moves by what a reader sees as one character.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Editor {
    text: String,
    /// In bytes, always between two graphemes.
    cursor: usize,
}

/// The text laid out: rows of it as byte ranges, and the row and cell of the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Laid {
    pub rows: Vec<String>,
    pub cursor: (usize, usize),
}

impl Editor {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn set(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.cursor = self.text.len();
    }

    pub(crate) fn take(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    /// As pasted: line ends of other systems become ours, nothing else is touched.
    pub(crate) fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
        // What was put in may join with what follows.
        if !self.is_boundary(self.cursor) {
            self.cursor = self.after(self.cursor);
        }
    }

    /// Whether the key meant something to the text.
    pub(crate) fn press(&mut self, event: KeyEvent) -> bool {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let alt = event.modifiers.contains(KeyModifiers::ALT);
        let by_word = ctrl || alt;
        match event.code {
            KeyCode::Char(c) if !ctrl && !alt => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Char('a') if ctrl => self.cursor = self.line_start(),
            KeyCode::Char('e') if ctrl => self.cursor = self.line_end(),
            KeyCode::Char('b') if ctrl => self.cursor = self.before(self.cursor),
            KeyCode::Char('f') if ctrl => self.cursor = self.after(self.cursor),
            KeyCode::Char('b') if alt => self.cursor = self.word_before(),
            KeyCode::Char('f') if alt => self.cursor = self.word_after(),
            KeyCode::Char('u') if ctrl => self.cut(self.line_start(), self.cursor),
            KeyCode::Char('k') if ctrl => self.cut(self.cursor, self.line_end()),
            KeyCode::Char('w') if ctrl => self.cut(self.word_before(), self.cursor),
            KeyCode::Char('h') if ctrl => self.cut(self.before(self.cursor), self.cursor),
            KeyCode::Backspace if by_word => self.cut(self.word_before(), self.cursor),
            KeyCode::Backspace => self.cut(self.before(self.cursor), self.cursor),
            KeyCode::Delete => self.cut(self.cursor, self.after(self.cursor)),
            KeyCode::Left if by_word => self.cursor = self.word_before(),
            KeyCode::Right if by_word => self.cursor = self.word_after(),
            KeyCode::Left => self.cursor = self.before(self.cursor),
            KeyCode::Right => self.cursor = self.after(self.cursor),
            KeyCode::Home => self.cursor = self.line_start(),
            KeyCode::End => self.cursor = self.line_end(),
            KeyCode::Up => self.climb(self.line_start().checked_sub(1)),
            KeyCode::Down => {
                let next = self.line_end() + 1;
                self.climb((next <= self.text.len()).then_some(next));
            }
            _ => return false,
        }
        true
    }

    /// To the line that holds this byte, about as far in as now.
    fn climb(&mut self, into: Option<usize>) {
        let Some(into) = into else { return };
        let column = self.text[self.line_start()..self.cursor].width();
        let start = self.text[..into].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[into..].find('\n').map_or(self.text.len(), |at| into + at);
        let (mut at, mut cells) = (start, 0);
        for grapheme in self.text[start..end].graphemes(true) {
            if cells + grapheme.width() > column {
                break;
            }
            cells += grapheme.width();
            at += grapheme.len();
        }
        self.cursor = at;
    }

    fn cut(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = from;
    }

    fn is_boundary(&self, at: usize) -> bool {
        at == self.text.len() || self.text.grapheme_indices(true).any(|(start, _)| start == at)
    }

    fn before(&self, at: usize) -> usize {
        self.text[..at].grapheme_indices(true).next_back().map_or(0, |(start, _)| start)
    }

    fn after(&self, at: usize) -> usize {
        self.text[at..].graphemes(true).next().map_or(at, |grapheme| at + grapheme.len())
    }

    fn word_before(&self) -> usize {
        let mut words = self.text[..self.cursor].unicode_word_indices();
        words.next_back().map_or(0, |(start, _)| start)
    }

    fn word_after(&self) -> usize {
        let mut words = self.text[self.cursor..].unicode_word_indices();
        words.next().map_or(self.text.len(), |(at, word)| self.cursor + at + word.len())
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    /// Rows of at most `cells` cells; the cursor has a cell of its own at the end of a full row.
    pub(crate) fn lay(&self, cells: usize) -> Laid {
        let cells = cells.max(2);
        let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
        let mut cursor = (0, 0);
        for (at, grapheme) in self.text.grapheme_indices(true) {
            if grapheme == "\n" || grapheme == "\r\n" {
                if at == self.cursor {
                    cursor = (rows.len(), used);
                }
                rows.push(std::mem::take(&mut row));
                used = 0;
                continue;
            }
            let shown = super::text::one_line(grapheme);
            let wide = shown.width();
            if used + wide >= cells {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            if at == self.cursor {
                cursor = (rows.len(), used);
            }
            row.push_str(&shown);
            used += wide;
        }
        if self.cursor == self.text.len() {
            cursor = (rows.len(), used);
        }
        rows.push(row);
        Laid { rows, cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(editor: &mut Editor, keys: &[(KeyCode, KeyModifiers)]) {
        for (code, mods) in keys {
            editor.press(KeyEvent::new(*code, *mods));
        }
    }

    #[test]
    fn the_cursor_moves_by_what_is_seen() {
        let none = KeyModifiers::NONE;
        for one in ["é", "e\u{301}", "가", "👨‍👩‍👧", "🇨🇭", "x"] {
            let mut editor = Editor::default();
            editor.insert(&format!("a{one}b"));
            press(&mut editor, &[(KeyCode::Left, none), (KeyCode::Backspace, none)]);
            assert_eq!(editor.text(), "ab", "{one}");
            press(&mut editor, &[(KeyCode::Char('c'), none)]);
            assert_eq!(editor.text(), "acb", "{one}");
        }
    }

    #[test]
    fn lines_and_words_are_walked() {
        let (none, ctrl) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        let mut editor = Editor::default();
        editor.insert("one two\r\nthree");
        press(&mut editor, &[(KeyCode::Up, none), (KeyCode::Char('!'), none)]);
        assert_eq!(editor.text(), "one t!wo\nthree");
        press(&mut editor, &[(KeyCode::Char('u'), ctrl), (KeyCode::Char('k'), ctrl)]);
        assert_eq!(editor.text(), "\nthree");
        press(&mut editor, &[(KeyCode::Down, none), (KeyCode::End, none)]);
        press(&mut editor, &[(KeyCode::Char('w'), ctrl)]);
        assert_eq!(editor.text(), "\n");
    }

    #[test]
    fn rows_fit_and_the_cursor_is_on_one_of_them() {
        let mut editor = Editor::default();
        editor.insert("abcdef\n가나다");
        let laid = editor.lay(5);
        assert_eq!(laid.rows, ["abcd", "ef", "가나", "다"]);
        assert_eq!(laid.cursor, (3, 2));
        assert_eq!(Editor::default().lay(5), Laid { rows: vec![String::new()], cursor: (0, 0) });
    }
}
