//! A path inside the workspace: relative, normal, and unable to escape.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// `program/prefill.toml`: components joined by `/`, none of them `.` or `..`, no control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Path(String);

/// Why a text is not a path of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{path}` is not a path inside the workspace: {why}\n hint: write it from the root, such as `program/prefill.toml`"
)]
pub struct EscapesRoot {
    pub path: String,
    pub why: &'static str,
}

/// The folder that is ours: never edited by a mind, never part of a snapshot.
pub const PRIVATE: &str = ".pilotfish";

impl Path {
    /// Reads what a mind or a person wrote; a leading `./` is forgiven, nothing else is.
    pub fn new(text: &str) -> Result<Self, EscapesRoot> {
        let path = text.strip_prefix("./").unwrap_or(text);
        let refuse = |why| Err(EscapesRoot { path: text.to_owned(), why });
        if path.is_empty() {
            return refuse("it is empty");
        }
        if path.starts_with('/') {
            return refuse("it is absolute");
        }
        if path.len() > 1024 {
            return refuse("it is longer than 1024 bytes");
        }
        if path.contains('\\') || path.chars().any(char::is_control) {
            return refuse("it has a backslash or a control character");
        }
        for part in path.split('/') {
            match part {
                "" => return refuse("it has an empty component"),
                "." | ".." => return refuse("it has a `.` or `..` component"),
                part if part.len() > 255 => return refuse("a component is longer than 255 bytes"),
                _ => (),
            }
        }
        Ok(Self(path.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn as_std(&self) -> &std::path::Path {
        self.0.as_ref()
    }

    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    pub fn join(&self, name: &str) -> Result<Self, EscapesRoot> {
        Self::new(&format!("{}/{name}", self.0))
    }

    /// Below `.pilotfish`.
    pub fn is_private(&self) -> bool {
        self.parts().next() == Some(PRIVATE)
    }

    /// Whether one of the patterns covers it.
    pub fn is_in(&self, patterns: &[String]) -> bool {
        patterns.iter().any(|pattern| self.matches(pattern))
    }

    /// Whether a pattern covers it: `*` within a component, `**` across, `?` one character, and a
    /// trailing `/` or a plain folder all that is in it.
    pub fn matches(&self, pattern: &str) -> bool {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let folder = pattern.strip_suffix('/').unwrap_or(pattern);
        if let Some(rest) = self.0.strip_prefix(folder)
            && !folder.is_empty()
            && (rest.starts_with('/') || (rest.is_empty() && folder == pattern))
        {
            return true;
        }
        let pattern: Vec<&str> = pattern.split('/').collect();
        let parts: Vec<&str> = self.parts().collect();
        match_parts(&pattern, &parts)
    }
}

fn match_parts(pattern: &[&str], parts: &[&str]) -> bool {
    match pattern {
        [] => parts.is_empty(),
        ["**", rest @ ..] => (0..=parts.len()).any(|skip| match_parts(rest, &parts[skip..])),
        [first, rest @ ..] => match parts {
            [part, others @ ..] => match_part(first, part) && match_parts(rest, others),
            [] => false,
        },
    }
}

/// Wildcards within one component, in time proportional to the product of the lengths.
fn match_part(pattern: &str, part: &str) -> bool {
    let part: Vec<char> = part.chars().collect();
    // `reached[i]`: the pattern so far covers the first `i` characters.
    let mut reached = vec![false; part.len() + 1];
    reached[0] = true;
    for wanted in pattern.chars() {
        if wanted == '*' {
            let first = reached.iter().position(|reached| *reached).unwrap_or(part.len() + 1);
            reached.iter_mut().skip(first).for_each(|reached| *reached = true);
            continue;
        }
        for at in (0..part.len()).rev() {
            reached[at + 1] = reached[at] && (wanted == '?' || wanted == part[at]);
        }
        reached[0] = false;
    }
    reached[part.len()]
}

impl TryFrom<String> for Path {
    type Error = EscapesRoot;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl From<Path> for String {
    fn from(path: Path) -> Self {
        path.0
    }
}

impl FromStr for Path {
    type Err = EscapesRoot;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_escapes() {
        let check = |text: &str, expected: Option<&str>| {
            let path = Path::new(text).ok();
            assert_eq!(path.as_ref().map(Path::as_str), expected, "{text:?}");
        };
        check("program/prefill.toml", Some("program/prefill.toml"));
        check("./plan.md", Some("plan.md"));
        check("...", Some("..."));
        for bad in [
            "",
            "./",
            "/etc/passwd",
            "..",
            "a/../b",
            "a//b",
            "a/",
            "a/./b",
            "a\\..\\b",
            "a\0",
            "a\n",
        ] {
            check(bad, None);
        }
        check(&"a".repeat(256), None);
        assert!(serde_json::from_str::<Path>("\"../x\"").is_err());
    }

    #[test]
    fn patterns_cover_what_they_say() {
        let check = |pattern: &str, path: &str, expected: bool| {
            assert_eq!(Path::new(path).unwrap().matches(pattern), expected, "{pattern} · {path}");
        };
        check("program/", "program/prefill.toml", true);
        check("program", "program/deep/x", true);
        check("program", "programs/x", false);
        check("program/", "program", false);
        check("*.md", "plan.md", true);
        check("*.md", "reports/plan.md", false);
        check("**/*.md", "reports/a/plan.md", true);
        check("**/*.md", "plan.md", true);
        check("src/**", "src/a/b.cc", true);
        check("p?an.m*", "plan.md", true);
        check("p?an", "pan", false);
        check("", "plan.md", false);
        check("*a*a*a*a*b", &"a".repeat(200), false);
    }
}
