//! One skill: what it is for, when it applies, what it says, and the recipe that carries it out.

use std::fmt;

use super::front_matter::{FrontMatter, split};
use super::recipe::Recipe;
use super::trigger::Trigger;
use crate::base::{Finding, nearest};
use crate::session::Phase;

#[derive(Clone, Debug)]
pub struct Skill {
    /// The name of its folder: lower case, digits and hyphens.
    pub name: String,
    /// What it does and when to use it: all that a mind reads before it opens the skill.
    pub description: String,
    /// The phases it belongs to; none for those that only triggers bring in.
    pub phases: Vec<Phase>,
    /// The moves it teaches.
    pub moves: Vec<String>,
    pub triggers: Vec<Trigger>,
    /// The text below the front matter.
    pub body: String,
    pub recipe: Option<Recipe>,
    pub origin: Origin,
}

/// Where a skill came from. A later one of the same name replaces an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Inside the binary.
    Shipped,
    /// In the person's own folder.
    User,
    /// In the deployment's folder.
    Workspace,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Shipped => "shipped",
            Self::User => "user",
            Self::Workspace => "workspace",
        })
    }
}

/// The keys that the front matter of a skill may have; the last four are ignored, but part of the
/// Agent Skills format.
const KEYS: [&str; 9] = [
    "name",
    "description",
    "phase",
    "moves",
    "triggers",
    "license",
    "metadata",
    "compatibility",
    "allowed-tools",
];

impl Skill {
    /// Reads `SKILL.md`. `folder` is the name that the skill must have; `place` is for findings.
    pub fn parse(folder: &str, place: &str, text: &str) -> (Option<Self>, Vec<Finding>) {
        let (front, body) = match split(text) {
            Ok(parts) => parts,
            Err(message) => {
                let hint = "begin with `---`, then `name:` and `description:`, then `---`";
                return (None, vec![Finding::error(place, message).hint(hint)]);
            }
        };
        let (front, mut findings) = FrontMatter::parse(place, front);
        let name = front.text("name").unwrap_or_default().to_owned();
        let description = front.text("description").unwrap_or_default().to_owned();
        check_name(place, folder, &name, &mut findings);
        check_description(place, &description, &mut findings);
        for (key, line) in front.keys() {
            if !KEYS.contains(&key) {
                let mut finding =
                    Finding::warning(format!("{place}:{line}"), format!("unknown key `{key}`"));
                if let Some(known) = nearest(key, KEYS) {
                    finding = finding.hint(format!("did you mean `{known}`?"));
                }
                findings.push(finding);
            }
        }
        let mut phases = Vec::new();
        for (word, line) in front.list("phase") {
            if let Some(phase) = Phase::parse(word) {
                phases.push(phase);
            } else {
                let known = Phase::ALL.map(Phase::name).join(", ");
                let message = format!("`{word}` is no phase");
                findings.push(
                    Finding::error(format!("{place}:{line}"), message)
                        .hint(format!("one of {known}")),
                );
            }
        }
        let mut triggers = Vec::new();
        for (word, line) in front.list("triggers") {
            match Trigger::parse(word) {
                Ok(trigger) => triggers.push(trigger),
                Err(message) => {
                    findings.push(Finding::error(format!("{place}:{line}"), message));
                }
            }
        }
        let moves = front.list("moves").map(|(name, _)| name.to_owned()).collect();
        let body = body.trim().to_owned();
        if body.is_empty() {
            findings.push(Finding::warning(place, "the skill says nothing below its front matter"));
        }
        let (recipe, origin) = (None, Origin::Shipped);
        let skill = Self { name, description, phases, moves, triggers, body, recipe, origin };
        (Some(skill).filter(|skill| !skill.name.is_empty()), findings)
    }

    /// Is it one of the debug skills, which triggers alone bring in?
    pub fn is_debug(&self) -> bool {
        self.phases.is_empty() && !self.triggers.is_empty()
    }
}

fn check_name(place: &str, folder: &str, name: &str, findings: &mut Vec<Finding>) {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() {
        findings.push(Finding::error(place, "`name` is missing"));
    } else if name.len() > 64 || !name.chars().all(is_plain) {
        let message = format!("`{name}` is no skill name");
        let hint = "at most 64 of a to z, 0 to 9 and hyphens";
        findings.push(Finding::error(place, message).hint(hint));
    } else if name != folder {
        let message = format!("the skill is named `{name}`, its folder `{folder}`");
        findings.push(Finding::error(place, message).hint("make the two the same"));
    }
}

fn check_description(place: &str, description: &str, findings: &mut Vec<Finding>) {
    if description.is_empty() {
        findings.push(
            Finding::error(place, "`description` is missing")
                .hint("say what the skill does and when to use it: a mind reads only this first"),
        );
    } else if description.chars().count() > 1024 {
        findings.push(Finding::warning(place, "`description` has more than 1024 characters"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Phase;

    const GOOD: &str = "---\nname: merge\ndescription: \"Merge: fewer calls.\"\nphase: [prefill, 5]\nmoves:\n  - merge-dispatches\ntriggers:\n  - 'finding: (?i)buffer descriptor'\n  - gate: layers\n---\n# Merge\nText.\n";

    #[test]
    fn a_skill_is_read_whole() {
        let (skill, findings) = Skill::parse("merge", "SKILL.md", GOOD);
        assert_eq!(findings, []);
        let skill = skill.unwrap();
        assert_eq!(skill.description, "Merge: fewer calls.");
        assert_eq!(skill.phases, [Phase::Prefill, Phase::Decode]);
        assert_eq!(skill.moves, ["merge-dispatches"]);
        assert_eq!(skill.triggers.len(), 2);
        assert_eq!(skill.body, "# Merge\nText.");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let check = |text: &str, expected: &str| {
            let (_, findings) = Skill::parse("merge", "SKILL.md", text);
            let said: Vec<_> = findings.iter().map(ToString::to_string).collect();
            assert!(said.iter().any(|text| text.contains(expected)), "{expected}: {said:?}");
        };
        check("# no front matter", "front matter");
        check("---\nname: merge\ndescription: x", "does not end");
        check(&GOOD.replace("name: merge", "name: Merge!"), "no skill name");
        check(&GOOD.replace("name: merge", "name: split"), "its folder `merge`");
        check(&GOOD.replace("phase:", "phases:"), "did you mean `phase`?");
        check(&GOOD.replace("prefill", "prefil"), "`prefil` is no phase");
        check(&GOOD.replace("prefill", "prefil"), "SKILL.md:4");
        check(&GOOD.replace("(?i)", "(?i"), "regex");
        check(&GOOD.replace("gate: layers", "gait: layers"), "gait");
    }
}
