//! From keys to actions: a text table, looked up by context.

use toml_edit::{Document, Item};

use super::action::Action;
use super::key::Key;
use crate::base::{Finding, nearest};

macro_rules! contexts {
    ($($variant:ident = $name:literal, $title:literal;)+) => {
        /// Where a key is pressed. The innermost context is asked first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Context { $($variant,)+ }

        impl Context {
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The heading in the help.
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }
        }
    };
}

contexts! {
    Approval = "approval", "when a call waits for an answer";
    Hunks = "hunks", "while choosing hunks";
    Diff = "diff", "in a full-screen change";
    Composer = "composer", "while writing";
    Blank = "blank", "before anything is written";
    Recalled = "recalled", "while an earlier message is shown";
    Pane = "pane", "in the transcript and the panes";
    Replay = "replay", "in a recording";
    Words = "words", "when words are asked for";
    List = "list", "in lists";
    Shelf = "shelf", "among sessions and models";
    Global = "global", "everywhere";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    Act(Action),
    /// More keys must follow.
    Pending,
    Nothing,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    pub context: Context,
    pub keys: Vec<Key>,
    pub action: Action,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Keymap {
    rows: Vec<Binding>,
}

const DEFAULT: &str = include_str!("keys.toml");

impl Default for Keymap {
    fn default() -> Self {
        Self::parse("keys.toml", DEFAULT).0
    }
}

impl Keymap {
    /// Reads a table of keys by context. Bad rows become findings, never a refusal to start.
    pub fn parse(place: &str, text: &str) -> (Self, Vec<Finding>) {
        let mut keymap = Self { rows: Vec::new() };
        let findings = keymap.read(place, text);
        (keymap, findings)
    }

    /// Takes in a person's own table: its rows win over those that were there.
    pub fn overlay(&mut self, place: &str, text: &str) -> Vec<Finding> {
        self.read(place, text)
    }

    fn read(&mut self, place: &str, text: &str) -> Vec<Finding> {
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => return vec![Finding::error(place, error.message())],
        };
        let at = |span: Option<std::ops::Range<usize>>| {
            let before = span.and_then(|span| text.get(..span.start)).unwrap_or_default();
            format!("{place}:{}", before.matches('\n').count() + 1)
        };
        let mut findings = Vec::new();
        for (name, item) in document.iter() {
            let Some(context) = Context::ALL.iter().copied().find(|c| c.name() == name) else {
                let known = Context::ALL.iter().map(|context| context.name());
                let finding = Finding::warning(at(item.span()), format!("no context `{name}`"));
                findings.push(hinted(finding, name, known));
                continue;
            };
            let Some(table) = item.as_table() else {
                findings.push(Finding::warning(at(item.span()), format!("`{name}` is no table")));
                continue;
            };
            for (keys, action) in table {
                match binding(context, keys, action) {
                    Ok(binding) => self.put(binding),
                    Err(finding) => {
                        findings.push(Finding { place: at(action.span()), ..finding });
                    }
                }
            }
        }
        findings.extend(self.hidden(place));
        findings
    }

    fn put(&mut self, binding: Binding) {
        self.rows.retain(|row| row.context != binding.context || row.keys != binding.keys);
        self.rows.push(binding);
    }

    /// Sequences that can never be typed, because their beginning already does something.
    fn hidden(&self, place: &str) -> Vec<Finding> {
        let begins = |short: &Binding, long: &Binding| {
            short.context == long.context
                && short.keys.len() < long.keys.len()
                && long.keys.starts_with(&short.keys)
        };
        let hidden = |long: &&Binding| self.rows.iter().any(|short| begins(short, long));
        let says = |row: &Binding| {
            let words = format!("`{}` is never reached: its first key acts at once", written(row));
            Finding::warning(place, words)
        };
        self.rows.iter().filter(hidden).map(says).collect()
    }

    /// Looks up what was typed so far, from the innermost context outwards.
    pub fn find(&self, contexts: &[Context], typed: &[Key]) -> Match {
        for context in contexts {
            let mut pending = false;
            for row in self.rows.iter().filter(|row| row.context == *context) {
                if row.keys == typed {
                    return Match::Act(row.action);
                }
                pending |= row.keys.starts_with(typed);
            }
            if pending {
                return Match::Pending;
            }
        }
        Match::Nothing
    }

    pub fn rows(&self) -> impl Iterator<Item = &Binding> {
        self.rows.iter()
    }

    /// The first keys that do this in these contexts, as people write them.
    pub fn keys_of(&self, contexts: &[Context], action: Action) -> Option<String> {
        let row = |context: &Context| {
            self.rows.iter().find(|row| row.context == *context && row.action == action)
        };
        contexts.iter().find_map(row).map(written)
    }
}

/// The keys of a row, as people write them.
pub(super) fn written(row: &Binding) -> String {
    row.keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn binding(context: Context, keys: &str, action: &Item) -> Result<Binding, Finding> {
    let name = action.as_str().ok_or_else(|| Finding::warning("", "an action is a string"))?;
    let action = Action::parse(name).ok_or_else(|| {
        let known = Action::ALL.iter().map(|action| action.name());
        hinted(Finding::warning("", format!("no action `{name}`")), name, known)
    })?;
    let parsed: Option<Vec<Key>> = keys.split_whitespace().map(Key::parse).collect();
    match parsed {
        Some(keys) if !keys.is_empty() => Ok(Binding { context, keys, action }),
        _ => Err(Finding::warning("", format!("no such key: `{keys}`"))
            .hint("write keys like `ctrl-p`, `alt-enter`, `f1`, `G`, or `g g`")),
    }
}

fn hinted<'a>(finding: Finding, word: &str, known: impl IntoIterator<Item = &'a str>) -> Finding {
    match nearest(word, known) {
        Some(name) => finding.hint(format!("did you mean `{name}`?")),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &str) -> Vec<Key> {
        keys.split_whitespace().map(|key| Key::parse(key).unwrap()).collect()
    }

    #[test]
    fn the_built_in_table_has_no_findings() {
        assert_eq!(Keymap::parse("keys.toml", DEFAULT).1, []);
    }

    #[test]
    fn bad_rows_are_told_and_the_rest_stands() {
        let text =
            "[pane]\nj = \"down\"\nz = \"dwn\"\n[pains]\nx = \"up\"\n[list]\nwhat = \"up\"\n";
        let (keymap, findings) = Keymap::parse("mine.toml", text);
        assert_eq!(keymap.find(&[Context::Pane], &typed("j")), Match::Act(Action::Down));
        let told: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(told, ["no action `dwn`", "no context `pains`", "no such key: `what`"]);
        assert_eq!(findings[0].place, "mine.toml:3");
        assert_eq!(findings[0].hint.as_deref(), Some("did you mean `down`?"));
    }

    #[test]
    fn a_sequence_behind_an_acting_key_is_told() {
        let (_, findings) = Keymap::parse("k", "[pane]\ng = \"up\"\n\"g g\" = \"top\"\n");
        assert!(findings[0].message.contains("`g g` is never reached"));
    }
}
