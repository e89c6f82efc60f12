//! `model fetch`: a checkpoint from the Hugging Face hub, resumed where it broke off.

use clap::Args;

use super::error::Problem;
use super::output;
use super::which::Which;

/// Fetch `hf:org/name`: broken-off files go on, hashes are compared, the token is `HF_TOKEN`
#[derive(Args)]
pub(super) struct Fetch {
    /// hf:org/name
    model: String,
}

impl Fetch {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        if !self.model.starts_with("hf:") {
            let what = format!("`{}` is nothing that can be fetched", self.model);
            return Err(Problem::usage(what, "write `hf:org/name`"));
        }
        output::say(&Which::of(&self.model, false)?.model);
        Ok(0)
    }
}
