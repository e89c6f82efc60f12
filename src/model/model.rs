//! A model: its shape, its weights, its tokenizer, and where they came from.

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::base::{Finding, Hash, Hasher};
use crate::model::weights::{Bytes, Gguf, MAGIC, RECIPE, open_folder, synthetic};
use crate::model::{Config, ModelError, Tokenizer, Weights, bundled};

/// Whether the numbers are a trained network's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provenance {
    Checkpoint,
    /// Drawn from a seed by a recipe: shows structure, numerics and time only.
    Synthetic {
        seed: u64,
        recipe: Hash,
    },
    /// A checkpoint's, with zeros around it.
    Padded {
        of: Hash,
    },
}

#[derive(Debug)]
pub struct Model {
    pub name: String,
    pub config: Config,
    pub weights: Weights,
    pub tokenizer: Option<Tokenizer>,
    pub provenance: Provenance,
    /// What was odd about the checkpoint without stopping us.
    pub findings: Vec<Finding>,
    pub(in crate::model) hash: OnceLock<Hash>,
}

impl Model {
    /// A folder with `config.json` and safetensors, or a GGUF file.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let found = fs::metadata(path).map_err(|error| ModelError::io(path, error))?;
        if found.is_dir() { Self::open_folder(path) } else { Self::open_file(path) }
    }

    fn open_folder(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join("config.json");
        let place = path.display().to_string();
        if !path.exists() {
            return Err(ModelError::Missing {
                place: folder.display().to_string(),
                what: "`config.json`".into(),
                hint: "name a Hugging Face folder or a GGUF file".into(),
            });
        }
        let text = fs::read_to_string(&path).map_err(|error| ModelError::io(&path, error))?;
        let mut config = Config::from_json(&text, &place)?;
        config.eos.extend(more_ends(folder, &config.eos));
        let entries = open_folder(folder)?;
        let place = folder.display().to_string();
        let weights = Weights::new(entries, &config, &place)?;
        let tokenizer = Tokenizer::open_folder(folder)?;
        let tokenizer = tokenizer.map(|one| one.matching(&config, &place)).transpose()?;
        Ok(Self::new(name_of(folder), config, weights, tokenizer, Provenance::Checkpoint))
    }

    fn open_file(path: &Path) -> Result<Self, ModelError> {
        let file = Arc::new(Bytes::open(path)?);
        let place = file.place();
        if !file.starts_with(MAGIC) && path.extension().is_some_and(|kind| kind == "safetensors") {
            return Err(ModelError::Missing {
                place,
                what: "a `config.json` to go with it".into(),
                hint: "name the folder that holds both".into(),
            });
        }
        let gguf = Gguf::parse(file)?;
        let config = Config::from_gguf(&gguf, &place)?;
        let weights = Weights::new(gguf.entries(&config), &config, &place)?;
        let tokenizer = Tokenizer::from_gguf(&gguf, &place)?;
        let tokenizer = tokenizer.map(|one| one.matching(&config, &place)).transpose()?;
        Ok(Self::new(name_of(path), config, weights, tokenizer, Provenance::Checkpoint))
    }

    /// Seeded weights of a given shape, made when asked for and never written to disk.
    pub fn synthetic(name: &str, config: Config, seed: u64) -> Result<Self, ModelError> {
        let config = config.validated(name)?;
        let weights = Weights::new(synthetic(&config, seed), &config, name)?;
        let recipe = Hash::of(RECIPE.as_bytes());
        let provenance = Provenance::Synthetic { seed, recipe };
        Ok(Self::new(name.to_owned(), config, weights, None, provenance))
    }

    /// One of the checkpoints that travel with the program, such as `tiny-llama`.
    pub fn bundled(name: &str) -> Result<Self, ModelError> {
        bundled::open(name)
    }

    pub(in crate::model) fn new(
        name: String,
        config: Config,
        weights: Weights,
        tokenizer: Option<Tokenizer>,
        provenance: Provenance,
    ) -> Self {
        Self {
            findings: weights.unread(&name),
            name,
            config,
            weights,
            tokenizer,
            provenance,
            hash: OnceLock::new(),
        }
    }

    /// The hash of the config and of every byte of the weights (or of the recipe and seed).
    pub fn hash(&self) -> &Hash {
        self.hash.get_or_init(|| {
            let mut hasher = Hasher::new();
            hasher.part(b"model 1").part(self.config.hash().as_str().as_bytes());
            if let Provenance::Synthetic { seed, recipe } = &self.provenance {
                hasher.part(recipe.as_str().as_bytes()).part(&seed.to_le_bytes());
            }
            if let Provenance::Padded { of } = &self.provenance {
                hasher.part(of.as_str().as_bytes());
            }
            for file in self.weights.files() {
                hasher.part(file);
            }
            hasher.finish()
        })
    }
}

/// Chat variants name further tokens that end a reply in `generation_config.json`.
fn more_ends(folder: &Path, known: &[u32]) -> Vec<u32> {
    let text = fs::read(folder.join("generation_config.json")).unwrap_or_default();
    let value: Value = serde_json::from_slice(&text).unwrap_or_default();
    let ids = match &value["eos_token_id"] {
        Value::Array(ids) => ids.iter().filter_map(Value::as_u64).collect(),
        id => id.as_u64().into_iter().collect::<Vec<_>>(),
    };
    let ids = ids.into_iter().filter_map(|id| u32::try_from(id).ok());
    ids.filter(|id| !known.contains(id)).collect()
}

fn name_of(path: &Path) -> String {
    path.file_stem().map_or_else(|| "model".into(), |name| name.to_string_lossy().into_owned())
}
