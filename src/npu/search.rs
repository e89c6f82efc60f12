//! Which moves are worth making: legal ones only, ranked by what the cost model predicts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::array::Array;
use super::check::check;
use super::cost::cost;
use super::moves::{self, Move, Site};
use super::profile::Cost;
use super::program::Program;
use crate::base::{Finding, Hash};

/// A move at a site, and what it is predicted to bring.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    #[serde(rename = "move")]
    pub name: &'static str,
    pub site: Site,
    /// Predicted time saved in one call of the program. Of a move that pays only together with
    /// those in `then`, what all of them save.
    pub gain_us: f64,
    /// The same by category; the parts add up to `gain_us`.
    pub gain: Cost,
    /// What the move saves by itself.
    pub alone_us: f64,
    /// The moves after it that the gain counts on, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<String>,
    /// Broken rules that it mends. Such moves come first.
    pub mends: usize,
    /// Whether the program after it breaks no rule that it did not break before.
    pub legal: bool,
    /// Hash of the program after it, names of dispatches and order of buffers apart: moves of
    /// equal effect have the same.
    pub effect: Hash,
    pub words: String,
}

/// How many moves the search looks ahead of one that does not pay by itself.
const AHEAD: usize = 2;

/// The best `limit` of the named moves, best first; of all moves where no name is given.
/// `context` is the number of tokens that a decode call attends to.
///
/// A move that costs time is suggested when the moves that it opens, if they are among those
/// named, save more than it costs. Equal programs are suggested once.
pub fn suggest(
    program: &Program,
    array: &Array,
    context: usize,
    moves: &[&str],
    limit: usize,
) -> Vec<Suggestion> {
    let named = |made: &&&dyn Move| moves.is_empty() || moves.contains(&made.name());
    let moves = moves::all().iter().filter(named).copied().collect();
    let search = Search { array, context, moves, broken: broken(program, array) };
    let now = search.cost(program);
    let mut found: Vec<Suggestion> = Vec::new();
    for trial in search.trials(program, &search.moves) {
        let alone = now.minus(&trial.cost);
        let (mut gain, mut then) = (alone, Vec::new());
        if alone.total() <= 0.0
            && let Some((more, words)) = search.ahead(program, &trial, AHEAD)
        {
            gain = alone.plus(&more);
            then = words;
        }
        let before: usize = search.broken.values().sum();
        let mends = before.saturating_sub(trial.broken);
        if gain.total() <= 0.0 && mends == 0 {
            continue;
        }
        let effect = effect(&trial.program);
        if found.iter().any(|other| other.effect == effect) {
            continue;
        }
        found.push(Suggestion {
            name: trial.made.name(),
            words: trial.made.words(program, &trial.site),
            site: trial.site,
            gain_us: gain.total(),
            gain,
            alone_us: alone.total(),
            then,
            mends,
            legal: true,
            effect,
        });
    }
    // Stable: what gains the same stays in the order of the moves and of the program.
    found.sort_by(|a, b| b.mends.cmp(&a.mends).then(b.gain_us.total_cmp(&a.gain_us)));
    found.truncate(limit);
    found
}

/// Hash of what a program does: names of dispatches and the order of buffers do not matter.
pub fn effect(program: &Program) -> Hash {
    let mut plain = program.clone();
    plain.buffers.sort_by(|a, b| a.name.cmp(&b.name));
    for dispatch in &mut plain.dispatches {
        dispatch.name.clear();
    }
    Hash::of(&serde_json::to_vec(&plain).unwrap_or_default())
}

struct Search<'a> {
    array: &'a Array,
    context: usize,
    moves: Vec<&'static dyn Move>,
    /// Errors of the program to start from, by rule: a move must not add to them.
    broken: BTreeMap<String, usize>,
}

/// A legal program one move away.
struct Trial {
    made: &'static dyn Move,
    site: Site,
    program: Program,
    cost: Cost,
    broken: usize,
}

impl Search<'_> {
    fn cost(&self, program: &Program) -> Cost {
        cost(program, self.array, self.context).cost
    }

    fn trials(&self, program: &Program, moves: &[&'static dyn Move]) -> Vec<Trial> {
        let sites = moves.iter().flat_map(|made| {
            let sites = made.sites(program, self.array).into_iter();
            sites.map(move |site| (*made, site))
        });
        sites.filter_map(|(made, site)| self.trial(program, made, site)).collect()
    }

    fn trial(&self, program: &Program, made: &'static dyn Move, site: Site) -> Option<Trial> {
        let program = made.apply(program, &site, self.array).ok()?;
        let broken = broken(&program, self.array);
        let more =
            |(rule, count): (&String, &usize)| *count > self.broken.get(rule).copied().unwrap_or(0);
        if broken.iter().any(more) {
            return None;
        }
        let cost = self.cost(&program);
        Some(Trial { made, site, program, cost, broken: broken.values().sum() })
    }

    /// The most that the moves which `first` opens save after it, and the moves in words. What one
    /// of them would save without `first` is not counted.
    fn ahead(&self, before: &Program, first: &Trial, depth: usize) -> Option<(Cost, Vec<String>)> {
        let opened = first.made.opens();
        let moves: Vec<_> =
            self.moves.iter().filter(|made| opened.contains(&made.name())).copied().collect();
        let mut best: Option<(Cost, Vec<String>)> = None;
        for next in self.trials(&first.program, &moves) {
            let mut gain = first.cost.minus(&next.cost);
            if let Some(without) = self.trial(before, next.made, next.site.clone()) {
                gain = gain.minus(&self.cost(before).minus(&without.cost));
            }
            let mut words = vec![next.made.words(&first.program, &next.site)];
            if gain.total() <= 0.0
                && depth > 1
                && let Some((more, later)) = self.ahead(&first.program, &next, depth - 1)
            {
                gain = gain.plus(&more);
                words.extend(later);
            }
            if gain.total() > best.as_ref().map_or(0.0, |(best, _)| best.total()) {
                best = Some((gain, words));
            }
        }
        best
    }
}

fn broken(program: &Program, array: &Array) -> BTreeMap<String, usize> {
    let mut broken = BTreeMap::new();
    for finding in check(program, array).into_iter().filter(Finding::is_error) {
        *broken.entry(finding.rule).or_insert(0) += 1;
    }
    broken
}
