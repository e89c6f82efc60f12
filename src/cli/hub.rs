//! The hub that `hf:` names come from, as the environment says.

use std::env;
use std::fs;
use std::path::PathBuf;

use etcetera::BaseStrategy;

use super::error::Problem;
use super::output;
use crate::base::{Progress, Stop};
use crate::model::Hub;

/// The folder of a checkpoint: from the person's own Hugging Face cache, from ours, or fetched now.
pub(super) fn folder(repository: &str) -> anyhow::Result<PathBuf> {
    if let Some(folder) = theirs(repository) {
        return Ok(folder);
    }
    let hub = hub();
    let progress = Progress::to(output::complain, |_| ());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let fetched = runtime.block_on(hub.fetch(repository, &progress, &Stop::never()));
    fetched.map_err(|error| Problem::model(&error))
}

fn hub() -> Hub {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let base = etcetera::choose_base_strategy().ok();
    let cache = base.map_or_else(|| PathBuf::from(".cache"), |base| base.cache_dir());
    let endpoint = set("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned());
    Hub {
        endpoint: endpoint.trim_end_matches('/').to_owned(),
        token: set("HF_TOKEN").or_else(|| set("HUGGING_FACE_HUB_TOKEN")),
        cache: cache.join("pilotfish/hf"),
    }
}

/// What other programs have fetched: `<hub>/models--org--name/snapshots/<revision>`.
fn theirs(repository: &str) -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || etcetera::home_dir().ok().map(|home| home.join(".cache/huggingface"));
    let hub = set("HF_HUB_CACHE").or_else(|| Some(set("HF_HOME").or_else(home)?.join("hub")))?;
    let model = hub.join(format!("models--{}", repository.replace('/', "--")));
    let revision = fs::read_to_string(model.join("refs/main")).ok()?;
    let folder = model.join("snapshots").join(revision.trim());
    let has = |suffix: &str| {
        let items = fs::read_dir(&folder).into_iter().flatten().flatten();
        items.into_iter().any(|item| item.file_name().to_string_lossy().ends_with(suffix))
    };
    (has("config.json") && has(".safetensors")).then_some(folder)
}
