//! Which model a person means: a bundled name, a folder, a file, `hf:org/name`, or a mere shape.

use std::path::Path;

use super::error::Problem;
use super::hub;
use super::places::whole;
use crate::base::nearest;
use crate::model::{Model, bundled_names, published, published_names};

/// A model as settings name it, and the short name that a workspace gets from it.
pub(super) struct Which {
    pub model: String,
    pub short: String,
}

impl Which {
    /// Looks only whether there is such a thing; it is opened by whoever needs it.
    pub(super) fn of(word: &str, synthetic: bool) -> anyhow::Result<Self> {
        let named = |name: &str| Self { model: name.to_owned(), short: name.to_owned() };
        if let Some(repository) = word.strip_prefix("hf:") {
            let folder = hub::folder(repository)?;
            return Ok(Self {
                model: whole(&folder).display().to_string(),
                short: short(Path::new(repository)),
            });
        }
        let path = Path::new(word);
        if bundled_names().contains(&word) {
            return Ok(named(word));
        }
        if path.exists() {
            let model = whole(path).display().to_string();
            return Ok(Self { model, short: short(path) });
        }
        if published(word).is_some() {
            if synthetic {
                return Ok(named(word));
            }
            return Err(Problem::usage(
                format!("the weights of `{word}` are not here: only its shape is"),
                "add `--synthetic` for seeded weights, or name a folder, a GGUF file or `hf:org/name`",
            ));
        }
        Err(unknown(word))
    }

    /// Opens a model for a command that needs no workspace.
    pub(super) fn open(word: &str) -> anyhow::Result<Model> {
        let which = Self::of(word, false)?;
        let path = Path::new(&which.model);
        let opened = if path.exists() && !bundled_names().contains(&word) {
            Model::open(path)
        } else {
            Model::bundled(word)
        };
        opened.map_err(|error| Problem::model(&error))
    }
}

fn unknown(word: &str) -> anyhow::Error {
    let known = bundled_names();
    if word.contains(['/', '.']) {
        return Problem::usage(
            format!("there is no `{word}`"),
            format!(
                "name a folder with `config.json`, a GGUF file, `hf:org/name`, or one of {}",
                known.join(", ")
            ),
        );
    }
    let names = known.into_iter().chain(published_names());
    let hint = match nearest(word, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("name a folder, a GGUF file, `hf:org/name`, or one of {}", known.join(", "))
        }
    };
    Problem::usage(format!("there is no model `{word}`"), hint)
}

/// The last part of a path in plain letters, without what follows its first quantisation dot.
fn short(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { "model".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_is_a_folder_name() {
        let check = |path: &str, expected: &str| assert_eq!(short(Path::new(path)), expected);
        check("/models/SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-135m-instruct.q4-1");
        check("org/Some Model", "some-model");
        check("..", "model");
    }
}
