//! What is judged, opened: settings, the model, and the programs of both stages.

use std::path::Path;
use std::sync::Arc;

use super::frozen::Frozen;
use crate::base::Hash;
use crate::model::{Config, Model, ModelError, Provenance, Stage, published};
use crate::npu::{Array, Outline, Program, ProgramText, lower};
use crate::workspace::Settings;

/// Tokens that a gate may ask for beyond the prompt, whatever sample a person wants printed.
pub(super) const LONGEST_ANSWER: usize = 128;

pub(super) struct Deployment {
    pub settings: Settings,
    /// Or why there is none.
    pub model: Result<Arc<Model>, String>,
    pub array: Array,
    prefill: Result<Program, String>,
    decode: Result<Program, String>,
    baseline: [Result<Program, String>; 2],
}

impl Deployment {
    pub(super) fn open(frozen: &Frozen) -> Result<Self, String> {
        let text = frozen.text("pilotfish.toml").ok_or_else(|| {
            format!("{} has no `pilotfish.toml`: it is no workspace", frozen.root.display())
        })?;
        let (settings, findings) = Settings::parse(&text);
        if let Some(finding) = findings.iter().find(|finding| finding.is_error()) {
            return Err(format!("{finding}"));
        }
        let model = open_model(&settings, &frozen.root);
        let model = model.map(Arc::new).map_err(|error| match error.hint() {
            "" => error.to_string(),
            hint => format!("{error}; {hint}"),
        });
        let read = |place: &str| program(frozen, place);
        Ok(Self {
            model,
            array: Array::xdna2(),
            prefill: read("program/prefill.toml"),
            decode: read("program/decode.toml"),
            baseline: Stage::ALL.map(|stage| read(&format!(".pilotfish/baseline/{stage}.toml"))),
            settings,
        })
    }

    pub(super) fn model(&self) -> Result<&Arc<Model>, String> {
        self.model.as_ref().map_err(Clone::clone)
    }

    pub(super) fn program(&self, stage: Stage) -> Result<&Program, String> {
        let program = match stage {
            Stage::Prefill => &self.prefill,
            Stage::Decode => &self.decode,
        };
        program.as_ref().map_err(Clone::clone)
    }

    pub(super) fn baseline(&self, stage: Stage) -> Result<&Program, String> {
        let [prefill, decode] = &self.baseline;
        let program = if stage == Stage::Prefill { prefill } else { decode };
        program.as_ref().map_err(Clone::clone)
    }

    /// What lowering by rule alone makes of the network: no file has a say in it.
    pub(super) fn naive(&self, stage: Stage) -> Result<Program, String> {
        let outline = outline(self.model()?);
        let (seq, capacity) = (self.settings.seq, self.capacity());
        Ok(lower(&outline, &self.array, stage, seq, capacity).0)
    }

    pub(super) fn capacity(&self) -> usize {
        self.settings.seq + self.settings.tokens.max(LONGEST_ANSWER)
    }

    pub(super) fn is_synthetic(&self) -> bool {
        let synthetic =
            |model: &Arc<Model>| matches!(model.provenance, Provenance::Synthetic { .. });
        self.model.as_ref().is_ok_and(synthetic)
    }

    pub(super) fn model_hash(&self) -> Hash {
        self.model.as_ref().map(|model| model.hash().clone()).unwrap_or_default()
    }

    pub(super) fn provenance(&self) -> String {
        match self.model.as_ref().map(|model| &model.provenance) {
            Ok(Provenance::Checkpoint) => "checkpoint".into(),
            Ok(Provenance::Padded { .. }) => "checkpoint, padded".into(),
            Ok(Provenance::Synthetic { seed, recipe }) => {
                format!("synthetic (seed {seed}, recipe {})", recipe.short())
            }
            Err(_) => "no model".into(),
        }
    }
}

fn program(frozen: &Frozen, place: &str) -> Result<Program, String> {
    let text = frozen.text(place).ok_or_else(|| format!("there is no `{place}`"))?;
    let (parsed, findings) = ProgramText::parse(place, &text);
    let wrong = findings.iter().find(|finding| finding.is_error());
    match (parsed, wrong) {
        (Some(parsed), None) => Ok(parsed.program().clone()),
        (_, Some(finding)) => Err(finding.to_string()),
        (None, None) => Err(format!("`{place}` cannot be read")),
    }
}

/// The model that settings name: a bundled name, a path from the workspace, or a shape alone.
pub fn open_model(settings: &Settings, root: &Path) -> Result<Model, ModelError> {
    let name = settings.model.as_str();
    let cut = |config: &mut Config| {
        config.layers = settings.layers.map_or(config.layers, |n| n.clamp(1, config.layers));
    };
    if settings.synthetic {
        let mut config = match published(name) {
            Some(config) => config,
            None => found(name, root)?.config,
        };
        cut(&mut config);
        return Model::synthetic(name, config, settings.seed);
    }
    let mut model = found(name, root)?;
    cut(&mut model.config);
    Ok(model)
}

fn found(name: &str, root: &Path) -> Result<Model, ModelError> {
    let path = root.join(name);
    if path.exists() { Model::open(&path) } else { Model::bundled(name) }
}

/// What lowering must know of this network.
pub fn outline(model: &Model) -> Outline {
    Outline::new(&model.name, &model.config)
}
