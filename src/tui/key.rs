//! One key with its modifiers, as people write it: `ctrl-p`, `alt-enter`, `G`.

use std::fmt;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key press in one form only: an upper-case letter carries its shift itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct Key {
    code: KeyCode,
    mods: KeyModifiers,
}

const NAMED: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("space", KeyCode::Char(' ')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
];

const MODIFIERS: &[(&str, KeyModifiers)] = &[
    ("ctrl-", KeyModifiers::CONTROL),
    ("alt-", KeyModifiers::ALT),
    ("shift-", KeyModifiers::SHIFT),
];

impl Key {
    pub fn new(code: KeyCode, mods: KeyModifiers) -> Self {
        let kept = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        let (code, mods) = match code {
            KeyCode::BackTab => (KeyCode::Tab, mods | KeyModifiers::SHIFT),
            KeyCode::Char(c) if mods.contains(KeyModifiers::SHIFT) => {
                let upper = c.to_uppercase().next().unwrap_or(c);
                (KeyCode::Char(upper), mods - KeyModifiers::SHIFT)
            }
            _ => (code, mods),
        };
        Self { code, mods: mods & kept }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (mut rest, mut mods) = (text, KeyModifiers::empty());
        while let Some((word, modifier)) =
            MODIFIERS.iter().find(|(word, _)| rest.len() > word.len() && rest.starts_with(word))
        {
            rest = &rest[word.len()..];
            mods |= *modifier;
        }
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(c), None) => KeyCode::Char(c),
            (Some('f'), Some(_)) if rest[1..].parse::<u8>().is_ok() => {
                KeyCode::F(rest[1..].parse().ok()?)
            }
            _ => NAMED.iter().find(|(name, _)| *name == rest)?.1,
        };
        Some(Self::new(code, mods))
    }

    /// The character that a plain press would write.
    pub fn character(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.mods.is_empty() => Some(c),
            _ => None,
        }
    }

    pub fn is_backspace(self) -> bool {
        self.code == KeyCode::Backspace
    }

    pub fn event(self) -> KeyEvent {
        KeyEvent::new(self.code, self.mods)
    }
}

impl From<KeyEvent> for Key {
    fn from(event: KeyEvent) -> Self {
        Self::new(event.code, event.modifiers)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (word, modifier) in MODIFIERS {
            if self.mods.contains(*modifier) {
                text.push_str(word);
            }
        }
        match (NAMED.iter().find(|(_, code)| *code == self.code), self.code) {
            (Some((name, _)), _) => text.push_str(name),
            (None, KeyCode::Char(c)) => text.push(c),
            (None, KeyCode::F(number)) => text.extend(["f", &number.to_string()]),
            _ => text.push('?'),
        }
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        for text in
            ["ctrl-p", "alt-enter", "G", "f1", "f12", "shift-tab", "space", "-", "ctrl--", "alt-."]
        {
            assert_eq!(Key::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "ctrl-", "nonsense", "fx"] {
            assert_eq!(Key::parse(text), None, "{text}");
        }
    }

    #[test]
    fn shift_is_in_the_letter() {
        let shifted = Key::new(KeyCode::Char('g'), KeyModifiers::SHIFT);
        assert_eq!(shifted, Key::new(KeyCode::Char('G'), KeyModifiers::empty()));
        assert_eq!(
            Key::new(KeyCode::BackTab, KeyModifiers::SHIFT),
            Key::parse("shift-tab").unwrap()
        );
    }
}
