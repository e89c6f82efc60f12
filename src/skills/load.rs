//! The library: shipped skills, then a person's own, then the deployment's; a later name wins.

use std::fs;
use std::path::Path;

use super::embedded::EMBEDDED;
use super::recipe::Recipe;
use super::skill::{Origin, Skill};
use super::trigger::{Applied, Signal, rank};
use crate::base::Finding;
use crate::session::{Phase, State};

/// The skills of a session, in the order of their names.
#[derive(Clone, Debug, Default)]
pub struct Library {
    skills: Vec<Skill>,
}

impl Library {
    /// Those inside the binary.
    pub fn shipped() -> (Self, Vec<Finding>) {
        let mut library = Self::default();
        let mut findings = Vec::new();
        for (name, skill, recipe) in EMBEDDED {
            let place = format!("skills/{name}");
            library.take(name, &place, skill, Some(recipe), Origin::Shipped, &mut findings);
        }
        (library, findings)
    }

    /// Adds the skills of a folder: one folder each, with `SKILL.md` and perhaps `recipe.toml`.
    /// A folder that is not there has none.
    pub fn add(&mut self, folder: &Path, origin: Origin) -> Vec<Finding> {
        let mut findings = Vec::new();
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut folders: Vec<_> = entries.map(|entry| entry.path()).collect();
        folders.sort();
        for folder in folders {
            let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { continue };
            let place = folder.display().to_string();
            let Ok(skill) = fs::read_to_string(folder.join("SKILL.md")) else {
                if folder.is_dir() {
                    let message = "no `SKILL.md` that can be read as text";
                    findings.push(Finding::warning(&place, message));
                }
                continue;
            };
            let recipe = fs::read_to_string(folder.join("recipe.toml")).ok();
            self.take(name, &place, &skill, recipe.as_deref(), origin, &mut findings);
        }
        findings
    }

    fn take(
        &mut self,
        folder: &str,
        place: &str,
        skill: &str,
        recipe: Option<&str>,
        origin: Origin,
        findings: &mut Vec<Finding>,
    ) {
        let (skill, found) = Skill::parse(folder, &format!("{place}/SKILL.md"), skill);
        findings.extend(found);
        let Some(mut skill) = skill else { return };
        if let Some(text) = recipe {
            let (recipe, found) = Recipe::parse(&format!("{place}/recipe.toml"), text);
            findings.extend(found);
            skill.recipe = recipe;
        }
        skill.origin = origin;
        self.insert(skill);
    }

    /// Puts a skill in, in place of one of the same name.
    pub fn insert(&mut self, skill: Skill) {
        match self.skills.binary_search_by(|other| other.name.cmp(&skill.name)) {
            Ok(at) => self.skills[at] = skill,
            Err(at) => self.skills.insert(at, skill),
        }
    }

    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    pub fn find(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// The parts that texts of recipes may take in, from every recipe; a later skill's name wins.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let recipes = self.skills.iter().filter_map(|skill| skill.recipe.as_ref());
        let texts = recipes.flat_map(|recipe| &recipe.texts);
        texts.map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The skill that leads the whole deployment.
    pub fn orchestrator(&self) -> Option<&Skill> {
        self.find("deploy-model")
    }

    /// What a mind should have before it now, and why. The leader and the skills of the phase come
    /// first, then those whose trigger fires on what went wrong last.
    pub fn applies(&self, state: &State) -> Vec<Applied> {
        let named = |skill: &Skill, why: String| Applied { skill: skill.name.clone(), why };
        let lead = self.orchestrator().map(|skill| named(skill, "leads the deployment".to_owned()));
        let of_phase = self.of_phase(state.phase).map(|skill| {
            let phase = state.phase;
            named(skill, format!("phase {} ({})", phase.number(), phase.title()))
        });
        let mut applied: Vec<_> = lead.into_iter().chain(of_phase).collect();
        if let Some(signal) = Signal::of_state(state) {
            applied.extend(self.triggered(&signal).map(|(skill, why)| named(skill, why)));
        }
        applied
    }

    /// The skills that belong to a phase.
    pub fn of_phase(&self, phase: Phase) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(move |skill| skill.phases.contains(&phase))
    }

    /// The skills whose trigger fires, and why each does. One that matches words of a finding goes
    /// before one that only knows the gate: it knows more.
    pub fn triggered(&self, signal: &Signal) -> impl Iterator<Item = (&Skill, String)> {
        let mut fired: Vec<_> = Vec::new();
        for skill in &self.skills {
            let fires = skill.triggers.iter().filter_map(|trigger| {
                trigger.fires(signal).map(|why| (rank(trigger.source), skill, why))
            });
            fired.extend(fires.min_by_key(|(rank, _, _)| *rank));
        }
        fired.sort_by_key(|(rank, skill, _)| (*rank, skill.name.clone()));
        fired.into_iter().map(|(_, skill, why)| (skill, why))
    }
}
