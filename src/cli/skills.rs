//! `skills`: the written know-how: list it, show one, check that it speaks of things that exist.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::error::Problem;
use super::exit::FAILED;
use super::output;
use super::places;
use crate::base::{Finding, nearest};
use crate::npu::moves;
use crate::policy::Presence;
use crate::runtime::known;
use crate::session::Phase;
use crate::skills::{Library, Origin, Skill, check};

/// Skills: list, show, check
#[derive(Args)]
#[command(after_help = "Exit codes: 0, 1 if `check` finds errors, 2 for what is not there.\n\n\
    Examples:\n  pilotfish skills list\n  pilotfish skills show phase-4-prefill\n  \
    pilotfish skills check --folder my-skills")]
pub(super) struct Skills {
    #[command(subcommand)]
    command: Command,
    /// One more folder of skills
    #[arg(long, value_name = "DIR", global = true)]
    folder: Option<PathBuf>,
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Every skill with what it is for
    List,
    /// The text of one skill
    Show { name: String },
    /// Do they speak of tools, moves and gates that exist?
    Check { name: Option<String> },
}

impl Skills {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let (mut library, mut findings) = Library::shipped();
        if let Some(folder) = places::world(Presence::Headless)?.skills {
            findings.extend(library.add(&folder, Origin::User));
        }
        if let Some(folder) = &self.folder {
            if !folder.is_dir() {
                let what = format!("there is no folder `{}`", folder.display());
                return Err(Problem::usage(what, "name a folder that holds one folder per skill"));
            }
            findings.extend(library.add(folder, Origin::Workspace));
        }
        match &self.command {
            Command::List => self.list(&library),
            Command::Show { name } => {
                let skill = named(&library, name)?;
                if self.json {
                    output::json(&told(skill))?;
                } else {
                    output::say(&skill.body);
                }
                Ok(0)
            }
            Command::Check { name } => {
                let only = name.as_deref().map(|name| named(&library, name)).transpose()?;
                let known = known(moves::all().iter().map(|made| made.name()), &library);
                let skills = library.skills().iter();
                let skills = skills.filter(|skill| only.is_none_or(|only| only.name == skill.name));
                let skills: Vec<&Skill> = skills.collect();
                findings.extend(skills.iter().flat_map(|skill| check(skill, &known)));
                self.tell(&findings, skills.len())
            }
        }
    }

    fn list(&self, library: &Library) -> anyhow::Result<u8> {
        if self.json {
            output::json(&library.skills().iter().map(told).collect::<Vec<_>>())?;
            return Ok(0);
        }
        for skill in library.skills() {
            output::say(&format!("{:<24} {}", skill.name, skill.description));
        }
        Ok(0)
    }

    fn tell(&self, findings: &[Finding], skills: usize) -> anyhow::Result<u8> {
        let errors = findings.iter().filter(|finding| finding.is_error()).count();
        if self.json {
            output::json(&findings)?;
        } else {
            for finding in findings {
                output::say(&finding.to_string());
            }
            output::say(&format!("{skills} skills, {errors} errors"));
        }
        Ok(if errors > 0 { FAILED } else { 0 })
    }
}

fn named<'a>(library: &'a Library, name: &str) -> anyhow::Result<&'a Skill> {
    library.find(name).ok_or_else(|| {
        let near = nearest(name, library.skills().iter().map(|skill| skill.name.as_str()));
        let hint = near.map_or_else(
            || "`pilotfish skills list` shows them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        Problem::usage(format!("there is no skill `{name}`"), hint)
    })
}

fn told(skill: &Skill) -> serde_json::Value {
    json!({
        "name": skill.name,
        "description": skill.description,
        "origin": skill.origin.to_string(),
        "phases": skill.phases.iter().map(|phase| Phase::name(*phase)).collect::<Vec<_>>(),
        "moves": skill.moves,
        "has_recipe": skill.recipe.is_some(),
        "body": skill.body,
    })
}
