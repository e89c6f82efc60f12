//! Styles by name, read from `themes/*.toml`; a theme may build on another one.

use std::str::FromStr;

use ratatui::style::{Color, Modifier, Style};
use toml_edit::{Document, Item, TableLike};

use super::colour::Depth;
use super::slot::Slot;
use crate::base::{Finding, nearest};

#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    pub name: String,
    pub depth: Depth,
    styles: Vec<Style>,
    /// For terminals with sixteen colours or none, where a style asks for something else.
    narrow: Vec<Option<Style>>,
}

/// The themes inside the binary.
const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
];

/// How deep one theme may build on others.
const MOST_PARENTS: usize = 4;

impl Default for Theme {
    fn default() -> Self {
        Self::built_in("dark", Depth::True)
    }
}

impl Theme {
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// A theme of the binary; the dark one if there is none of this name.
    pub fn built_in(name: &str, depth: Depth) -> Self {
        let known = BUILT_IN.iter().find(|(known, _)| *known == name).unwrap_or(&BUILT_IN[0]);
        Self::parse(known.0, known.1, depth).0
    }

    /// The theme that comes after this one.
    pub fn next(&self) -> Self {
        let at = Self::names().position(|name| name == self.name).map_or(0, |at| at + 1);
        Self::built_in(BUILT_IN[at % BUILT_IN.len()].0, self.depth)
    }

    /// Reads a theme. What it does not set comes from the one it `inherits`.
    pub fn parse(name: &str, text: &str, depth: Depth) -> (Self, Vec<Finding>) {
        let mut theme = Self {
            name: name.to_owned(),
            depth,
            styles: vec![Style::default(); Slot::ALL.len()],
            narrow: vec![None; Slot::ALL.len()],
        };
        let mut findings = Vec::new();
        theme.read(name, text, MOST_PARENTS, &mut findings);
        (theme, findings)
    }

    pub fn of(&self, slot: Slot) -> Style {
        let wide = self.styles[slot as usize];
        match (self.depth, self.narrow[slot as usize]) {
            (Depth::Plain | Depth::Sixteen, Some(narrow)) => self.depth.style(narrow),
            // A background made for many colours is a stain in sixteen.
            (Depth::Sixteen, None) => self.depth.style(Style { bg: None, ..wide }),
            _ => self.depth.style(wide),
        }
    }

    /// Whether colour can tell things apart here; if not, shapes must.
    pub fn has_colour(&self) -> bool {
        self.depth != Depth::Plain
    }

    fn read(&mut self, place: &str, text: &str, parents: usize, findings: &mut Vec<Finding>) {
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                findings.push(Finding::error(place, error.message()));
                return;
            }
        };
        if let Some(parent) = document.get("inherits").and_then(Item::as_str) {
            self.inherit(place, parent, parents, findings);
        }
        let palette = document.get("palette").and_then(Item::as_table_like);
        for (key, item) in document.iter() {
            match (key, item.as_table_like()) {
                ("inherits", _) | ("palette", Some(_)) => (),
                ("styles", Some(styles)) => {
                    for (name, item) in styles.iter() {
                        let at = line(place, text, item);
                        self.set(&at, name, item, palette, findings);
                    }
                }
                _ => {
                    let known = ["inherits", "palette", "styles"];
                    findings.push(unknown(&line(place, text, item), "key", key, known));
                }
            }
        }
    }

    fn inherit(&mut self, place: &str, parent: &str, parents: usize, into: &mut Vec<Finding>) {
        match BUILT_IN.iter().find(|(name, _)| *name == parent) {
            Some((name, text)) if parents > 0 => self.read(name, text, parents - 1, into),
            Some(_) => into.push(Finding::warning(place, "themes build on each other in a ring")),
            None => into.push(unknown(place, "theme", parent, Self::names())),
        }
    }

    fn set(
        &mut self,
        at: &str,
        name: &str,
        item: &Item,
        palette: Option<&dyn TableLike>,
        findings: &mut Vec<Finding>,
    ) {
        let Some(slot) = Slot::ALL.iter().copied().find(|slot| slot.name() == name) else {
            let known = Slot::ALL.iter().map(|slot| slot.name());
            findings.push(unknown(at, "style", name, known));
            return;
        };
        let Some(table) = item.as_table_like() else {
            let hint = "write `{ fg = \"#rrggbb\", mods = [\"bold\"] }`";
            findings.push(Finding::warning(at, format!("`{name}` is no table")).hint(hint));
            return;
        };
        self.styles[slot as usize] = style(at, table, palette, findings);
        let narrow = table.get("narrow").and_then(Item::as_table_like);
        self.narrow[slot as usize] = narrow.map(|table| style(at, table, palette, findings));
    }
}

fn style(
    at: &str,
    table: &dyn TableLike,
    palette: Option<&dyn TableLike>,
    findings: &mut Vec<Finding>,
) -> Style {
    let mut style = Style::default();
    for (key, item) in table.iter() {
        match key {
            "fg" => style.fg = colour(at, item, palette, findings),
            "bg" => style.bg = colour(at, item, palette, findings),
            "mods" => {
                for word in item.as_array().into_iter().flatten().filter_map(|word| word.as_str()) {
                    match modifier(word) {
                        Some(modifier) => style = style.add_modifier(modifier),
                        None => findings.push(unknown(at, "modifier", word, MODIFIERS)),
                    }
                }
            }
            "narrow" => (),
            _ => findings.push(unknown(at, "key", key, ["fg", "bg", "mods", "narrow"])),
        }
    }
    style
}

fn colour(
    at: &str,
    item: &Item,
    palette: Option<&dyn TableLike>,
    findings: &mut Vec<Finding>,
) -> Option<Color> {
    let word = item.as_str().unwrap_or_default();
    let named = palette.and_then(|palette| palette.get(word)).and_then(Item::as_str);
    let found = Color::from_str(named.unwrap_or(word)).ok();
    if found.is_none() {
        let known = palette.into_iter().flat_map(|palette| palette.iter().map(|(name, _)| name));
        findings.push(unknown(at, "colour", word, known));
    }
    found
}

const MODIFIERS: [&str; 6] = ["bold", "dim", "italic", "underlined", "reversed", "crossed-out"];

fn modifier(word: &str) -> Option<Modifier> {
    Some(match word {
        "bold" => Modifier::BOLD,
        "dim" => Modifier::DIM,
        "italic" => Modifier::ITALIC,
        "underlined" => Modifier::UNDERLINED,
        "reversed" => Modifier::REVERSED,
        "crossed-out" => Modifier::CROSSED_OUT,
        _ => return None,
    })
}

fn line(place: &str, text: &str, item: &Item) -> String {
    let before = item.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("{place}:{}", before.matches('\n').count() + 1)
}

fn unknown<'a>(
    at: &str,
    kind: &str,
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Finding {
    let finding = Finding::warning(at, format!("no {kind} `{word}`"));
    match nearest(word, known) {
        Some(name) => finding.hint(format!("did you mean `{name}`?")),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_themes_set_every_style_without_findings() {
        for (name, text) in BUILT_IN {
            let (theme, findings) = Theme::parse(name, text, Depth::True);
            assert_eq!(findings, [], "{name}");
            for slot in Slot::ALL {
                assert_ne!(theme.of(*slot), Style::default(), "{name}: {}", slot.name());
            }
        }
    }

    #[test]
    fn a_theme_builds_on_another_and_tells_what_is_wrong() {
        let text = "inherits = \"dark\"\n[palette]\nsea = \"#005577\"\n[styles]\n\
                    accent = { fg = \"sea\" }\nacent = { fg = \"sea\" }\nbad = { fg = \"see\" }\n\
                    good = { mods = [\"bald\"] }\n";
        let (theme, findings) = Theme::parse("mine", text, Depth::True);
        assert_eq!(theme.of(Slot::Accent).fg, Some(Color::Rgb(0, 0x55, 0x77)));
        assert_eq!(theme.of(Slot::Dim), Theme::default().of(Slot::Dim));
        let told: Vec<(&str, &str)> =
            findings.iter().map(|f| (f.place.as_str(), f.message.as_str())).collect();
        let expected = [
            ("mine:6", "no style `acent`"),
            ("mine:7", "no colour `see`"),
            ("mine:8", "no modifier `bald`"),
        ];
        assert_eq!(told, expected);
        assert_eq!(findings[0].hint.as_deref(), Some("did you mean `accent`?"));
    }

    #[test]
    fn without_colour_nothing_has_colour_and_the_selection_still_shows() {
        for name in Theme::names() {
            let theme = Theme::built_in(name, Depth::Plain);
            for slot in Slot::ALL {
                let style = theme.of(*slot);
                assert_eq!((style.fg, style.bg), (None, None), "{}", slot.name());
            }
            assert!(theme.of(Slot::Selected).add_modifier.contains(Modifier::REVERSED));
            assert!(theme.of(Slot::SliderOn).add_modifier.contains(Modifier::REVERSED));
        }
    }
}
