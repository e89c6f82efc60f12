//! The head of a skill file: the small part of YAML that such heads use, read with findings.

use crate::base::Finding;

/// Keys in order; each holds a text or a list of texts.
pub(super) struct FrontMatter {
    entries: Vec<Entry>,
}

/// A key, its line in the file, and its texts with theirs.
type Entry = (String, usize, Vec<(String, usize)>);

/// Parts a file into its head and what follows.
pub(super) fn split(text: &str) -> Result<(&str, &str), &'static str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let after = text.strip_prefix("---").and_then(|rest| rest.split_once('\n'));
    let Some((_, rest)) = after.filter(|(dashes, _)| dashes.trim().is_empty()) else {
        return Err("the file has no front matter");
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    Err("the front matter does not end")
}

impl FrontMatter {
    pub(super) fn parse(place: &str, head: &str) -> (Self, Vec<Finding>) {
        let mut entries: Vec<Entry> = Vec::new();
        let mut findings = Vec::new();
        let mut folds = false; // The last value goes on over indented lines (`>` or `|`).
        for (number, line) in head.lines().enumerate() {
            let number = number + 2; // The head begins below the first `---`.
            let text = line.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            if !line.starts_with([' ', '\t', '-']) {
                let Some((key, value)) = text.split_once(':') else {
                    let message = format!("`{text}` is no `key: value`");
                    findings.push(Finding::error(format!("{place}:{number}"), message));
                    continue;
                };
                folds = matches!(value.trim(), ">" | "|" | ">-" | "|-");
                let values = if folds { Vec::new() } else { values(value.trim(), number) };
                entries.push((key.trim().to_owned(), number, values));
                continue;
            }
            let Some((_, _, values)) = entries.last_mut() else {
                findings.push(Finding::error(format!("{place}:{number}"), "a value without a key"));
                continue;
            };
            match (text.strip_prefix("- "), values.last_mut()) {
                (Some(item), _) => values.push((unquote(item.trim()).to_owned(), number)),
                (None, Some((said, _))) => *said = format!("{said} {text}"),
                (None, None) if folds => values.push((text.to_owned(), number)),
                (None, None) => (), // A map of somebody else's, such as `metadata`.
            }
        }
        (Self { entries }, findings)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = (&str, usize)> {
        self.entries.iter().map(|(key, line, _)| (key.as_str(), *line))
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.list(key).map(|(text, _)| text).next()
    }

    pub(super) fn list<'a>(&'a self, key: &str) -> impl Iterator<Item = (&'a str, usize)> {
        let entry = self.entries.iter().find(|(name, _, _)| name == key);
        let values = entry.map(|(_, _, values)| values.as_slice()).unwrap_or_default();
        values.iter().map(|(text, line)| (text.as_str(), *line))
    }
}

/// `a`, `"a"`, or `[a, "b"]`.
fn values(text: &str, line: usize) -> Vec<(String, usize)> {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let parts = match inner {
        Some(inner) => inner.split(',').map(str::trim).collect(),
        None => vec![text],
    };
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.map(|part| (unquote(part).to_owned(), line)).collect()
}

fn unquote(text: &str) -> &str {
    let strip = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    strip('"').or_else(|| strip('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_as_people_write_them() {
        let head = "a: one\n# note\nb:\n  - x: y\n  - 'z'\nc: [p, \"q\"]\nd: >\n  long\n  words\nmetadata:\n  k: v\n";
        let (front, findings) = FrontMatter::parse("f", head);
        assert_eq!(findings, []);
        let list = |key| front.list(key).map(|(text, _)| text).collect::<Vec<_>>();
        assert_eq!(list("a"), ["one"]);
        assert_eq!(list("b"), ["x: y", "z"]);
        assert_eq!(list("c"), ["p", "q"]);
        assert_eq!(list("d"), ["long words"]);
        assert_eq!(front.list("b").next(), Some(("x: y", 5)));
    }

    #[test]
    fn a_head_ends_at_its_dashes() {
        assert_eq!(split("---\na: b\n---\nbody"), Ok(("a: b\n", "body")));
        assert!(split("a\n---\n").is_err());
        assert!(split("---\na: b\n").is_err());
        assert!(split("").is_err());
    }
}
