//! A model: its shape, its weights, its tokenizer, and where they came from.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use crate::base::{Finding, Hash, Hasher};
use crate::model::weights::{RECIPE, open_folder, synthetic};
use crate::model::{Config, ModelError, Tokenizer, Weights};

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
    Padded,
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
        let entries = open_folder(folder)?;
        let weights = Weights::new(entries, &config, &folder.display().to_string())?;
        let tokenizer = Tokenizer::open_folder(folder, &mut config)?;
        Ok(Self::new(name_of(folder), config, weights, tokenizer, Provenance::Checkpoint))
    }

    fn open_file(path: &Path) -> Result<Self, ModelError> {
        Err(ModelError::broken(path.display().to_string(), "not a GGUF file"))
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
        Err(ModelError::NotFound {
            name: name.to_owned(),
            hint: "name a folder or a GGUF file".into(),
        })
    }

    pub(in crate::model) fn new(
        name: String,
        config: Config,
        weights: Weights,
        tokenizer: Option<Tokenizer>,
        provenance: Provenance,
    ) -> Self {
        Self {
            name,
            config,
            weights,
            tokenizer,
            provenance,
            findings: Vec::new(),
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
            for file in self.weights.files() {
                hasher.part(file);
            }
            hasher.finish()
        })
    }
}

fn name_of(path: &Path) -> String {
    path.file_stem().map_or_else(|| "model".into(), |name| name.to_string_lossy().into_owned())
}
