//! The checkpoints that travel with the program: one inside the binary, two beside it.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy;

use crate::model::weights::{Bytes, read};
use crate::model::{Config, Model, ModelError, Provenance, Tokenizer, Weights};

/// A model's name and the two others that lie in a folder `models`.
const NAMES: [&str; 3] = ["tiny-llama", "tiny-qwen2", "tiny-qwen3"];

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-llama/", $name))
    };
}

/// `tiny-llama`, `tiny-qwen2`, `tiny-qwen3`.
pub fn bundled_names() -> [&'static str; 3] {
    NAMES
}

pub(in crate::model) fn open(name: &str) -> Result<Model, ModelError> {
    if name == NAMES[0] {
        return embedded();
    }
    if !NAMES.contains(&name) {
        return Err(ModelError::NotFound {
            name: name.to_owned(),
            hint: format!("name a folder, a GGUF file, or one of {}", NAMES.join(", ")),
        });
    }
    let folders = folders();
    let found = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_dir());
    match found {
        Some(folder) => Model::open(&folder),
        None => Err(ModelError::NotFound {
            name: name.to_owned(),
            hint: match folders.last() {
                Some(last) => {
                    format!("copy `models/{name}` of the repository to `{}`", last.display())
                }
                None => "run it from the repository".into(),
            },
        }),
    }
}

fn embedded() -> Result<Model, ModelError> {
    let place = |file: &str| format!("{}/{file}", NAMES[0]);
    let text = String::from_utf8_lossy(file!("config.json"));
    let config = Config::from_json(&text, &place("config.json"))?;
    let bytes = Bytes::embedded(&place("model.safetensors"), file!("model.safetensors"));
    let weights = Weights::new(read(&Arc::new(bytes))?, &config, NAMES[0])?;
    let tokenizer = Tokenizer::parse(file!("tokenizer.json"), &place("tokenizer.json"))?;
    let tokenizer = Some(tokenizer.matching(&config, NAMES[0])?);
    Ok(Model::new(NAMES[0].to_owned(), config, weights, tokenizer, Provenance::Checkpoint))
}

/// Where a folder `models` may be: above the executable, where the program was built, and in the
/// data folder.
fn folders() -> Vec<PathBuf> {
    let executable = env::current_exe().unwrap_or_default();
    let above = executable.ancestors().skip(1).take(5).map(Path::to_owned);
    let built = option_env!("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let data = etcetera::choose_base_strategy().ok().map(|base| base.data_dir().join("pilotfish"));
    above.chain(built).chain(data).map(|folder| folder.join("models")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_opens_and_reads_its_own_text() {
        for name in bundled_names() {
            let model = Model::bundled(name).unwrap();
            assert_eq!(model.name, name);
            let tokenizer = model.tokenizer.as_ref().unwrap();
            let ids = tokenizer.encode("At dawn the pilot fish swims").unwrap();
            assert_eq!(tokenizer.decode(&ids), "At dawn the pilot fish swims");
            assert!(model.findings.is_empty());
        }
        let error = Model::bundled("tiny-bert").unwrap_err();
        assert!(error.hint().contains("tiny-llama"));
    }

    #[test]
    fn the_one_inside_is_the_one_beside() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-llama");
        assert_eq!(
            Model::open(&folder).unwrap().hash(),
            Model::bundled("tiny-llama").unwrap().hash()
        );
    }
}
