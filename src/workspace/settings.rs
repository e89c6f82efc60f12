//! What a person wrote into `pilotfish.toml`, and what holds where they wrote nothing.

use std::collections::BTreeMap;

/// The name of the file.
pub const SETTINGS: &str = "pilotfish.toml";

/// The five stops of the autonomy slider, as `session::Autonomy` names them.
pub const STOPS: [&str; 5] = ["observe", "guide", "edit", "phase", "auto"];

/// A whole deployment: what, where, with which mind, how far alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// A bundled name, a path, or `hf:org/name`. Required.
    pub model: String,
    pub target: String,
    pub agent: String,
    /// One of [`STOPS`].
    pub autonomy: String,
    /// The compiled sequence length of prefill.
    pub seq: usize,
    /// How many tokens the printed sample has.
    pub tokens: usize,
    /// Only the first layers, if a person says so.
    pub layers: Option<usize>,
    pub seed: u64,
    /// Seeded weights instead of a checkpoint's.
    pub synthetic: bool,
    pub rules: RuleSettings,
    pub budgets: Budgets,
    pub gates: GateSettings,
}

/// What may be edited without asking: patterns of [`Path::matches`](super::Path::matches).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSettings {
    pub edit_scope: Vec<String>,
    /// Never edited without asking, at any stop.
    pub protected: Vec<String>,
}

/// What may be spent; nothing written is no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budgets {
    pub minutes: Option<f64>,
    pub cents: Option<f64>,
    /// Of the mind, in and out.
    pub tokens: Option<u64>,
    pub calls: Option<u64>,
}

/// Thresholds that a person set: `[gates.logits] cosine = 0.96`.
#[derive(Clone, Debug, PartialEq)]
pub struct GateSettings {
    /// `fp32` or `hf`.
    pub profile: String,
    pub overrides: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Settings {
    /// The defaults for a model.
    pub fn of(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            target: "sim".into(),
            agent: "playbook".into(),
            autonomy: "guide".into(),
            seq: 512,
            tokens: 64,
            layers: None,
            seed: 0,
            synthetic: false,
            rules: RuleSettings::default(),
            budgets: Budgets::default(),
            gates: GateSettings::default(),
        }
    }
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self {
            edit_scope: vec!["program/".into()],
            protected: vec![SETTINGS.into(), super::PRIVATE.into(), ".git".into()],
        }
    }
}

impl Default for GateSettings {
    fn default() -> Self {
        Self { profile: "fp32".into(), overrides: BTreeMap::new() }
    }
}
