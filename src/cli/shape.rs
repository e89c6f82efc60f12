//! The shape of a network, for commands that need no weights.

use std::fs;
use std::path::Path;

use super::error::Problem;
use super::which::Which;
use crate::model::{Config, published};
use crate::npu::Outline;

/// The shape of a published or bundled name, of a `config.json` or the folder that it is in, or of
/// a checkpoint.
pub(super) fn shape(word: &str) -> anyhow::Result<Outline> {
    if let Some(config) = published(word) {
        return Ok(Outline::new(word, &config));
    }
    let path = Path::new(word);
    let in_folder = path.join("config.json");
    let file = if path.is_dir() { in_folder.as_path() } else { path };
    if file.extension().is_some_and(|kind| kind == "json") && file.exists() {
        let text = fs::read_to_string(file).map_err(|error| {
            let what = format!("cannot read `{}`: {error}", file.display());
            Problem::usage(what, "name a `config.json` that can be read")
        })?;
        let place = file.display().to_string();
        let config = Config::from_json(&text, &place).map_err(|error| Problem::model(&error))?;
        let name = if path.is_dir() { path.file_name() } else { file.file_stem() };
        let name = name.unwrap_or_default().to_string_lossy().to_lowercase();
        return Ok(Outline::new(&name, &config));
    }
    let model = Which::open(word)?;
    Ok(Outline::new(&model.name, &model.config))
}
