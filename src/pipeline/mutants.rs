//! A gate proves itself first: it is shown seeded faults, and must see those that it must see.

use std::sync::OnceLock;

use serde::Deserialize;

use super::case::Case;
use super::fault::Fault;
use super::gate::{Gate, Judgement};

#[derive(Debug, Deserialize)]
struct Mutant {
    gate: String,
    fault: Fault,
    /// The metric that must see it.
    by: String,
    #[serde(default = "yes")]
    must: bool,
}

#[derive(Debug, Deserialize)]
struct Table {
    mutant: Vec<Mutant>,
}

fn yes() -> bool {
    true
}

fn table() -> &'static [Mutant] {
    static TABLE: OnceLock<Vec<Mutant>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let table: Table =
            toml::from_str(include_str!("mutants.toml")).expect("a test reads the shipped table");
        table.mutant
    })
}

/// What a gate made of one mutant. `None`: not applicable, for the reason in `by`.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub id: String,
    pub killed: Option<bool>,
    /// The metric that killed it.
    pub by: String,
    pub margin: f64,
}

/// How a gate did on its mutants.
#[derive(Clone, Debug, Default)]
pub(super) struct Trial {
    pub shown: Vec<Shown>,
    /// One that must die and lives.
    pub alive: Option<String>,
    /// `none yet`, for a gate without mutants.
    pub note: String,
}

/// Shows a gate its mutants. One that did not pass has nothing to prove.
pub(super) fn prove(gate: &Gate, case: &Case, honest: &Judgement) -> Trial {
    let mut trial = Trial::default();
    if !table().iter().any(|mutant| mutant.gate == gate.id) {
        trial.note = "none yet".into();
        return trial;
    }
    let margin = honest.margin();
    if honest.blocked.is_some() || margin.is_nan() || margin < 0.0 {
        trial.note = "not shown: the gate did not pass".into();
        return trial;
    }
    for mutant in table().iter().filter(|mutant| mutant.gate == gate.id) {
        let shown = show(gate, case, mutant);
        if mutant.must && shown.killed == Some(false) && trial.alive.is_none() {
            trial.alive = Some(shown.id.clone());
        }
        trial.shown.push(shown);
    }
    trial
}

fn show(gate: &Gate, case: &Case, mutant: &Mutant) -> Shown {
    let id = name(mutant.fault);
    let altered = match case.altered(gate.id, mutant.fault) {
        Ok(altered) => altered,
        Err(why) => return Shown { id, killed: None, by: why, margin: 0.0 },
    };
    let judgement = (gate.judge)(&altered);
    if mutant.by == "cases" {
        let killed = judgement.cases == 0;
        return Shown { id, killed: Some(killed), by: "cases".into(), margin: -1.0 };
    }
    let sees = judgement.metrics.iter().filter(|metric| {
        metric.hard && metric.name.split(['.', ' ']).next() == Some(mutant.by.as_str())
    });
    let least = sees.min_by(|a, b| rank(a.margin).total_cmp(&rank(b.margin)));
    match least {
        Some(metric) => Shown {
            id,
            killed: Some(metric.margin.is_nan() || metric.margin < 0.0),
            by: metric.name.clone(),
            margin: metric.margin,
        },
        None => Shown { id, killed: Some(false), by: mutant.by.clone(), margin: 0.0 },
    }
}

fn rank(margin: f64) -> f64 {
    if margin.is_nan() { f64::NEG_INFINITY } else { margin }
}

/// The word of the table.
fn name(fault: Fault) -> String {
    let mut name = String::new();
    for c in format!("{fault:?}").chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(c.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::gates;

    #[test]
    fn the_shipped_table_speaks_of_gates_that_exist() {
        assert!(!table().is_empty());
        for mutant in table() {
            assert!(gates().iter().any(|gate| gate.id == mutant.gate), "{}", mutant.gate);
        }
        for gate in ["kernel", "block", "layers", "logits", "tokens", "faster"] {
            let must = table().iter().filter(|mutant| mutant.gate == gate && mutant.must);
            assert!(must.count() >= 3, "{gate}");
        }
        assert_eq!(name(Fault::SinkOnly), "sink-only");
    }
}
