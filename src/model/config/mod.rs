//! What a network looks like, from its `config.json`, its GGUF metadata, or a published table.

mod config;
mod gguf;
mod json;
mod published;

pub use config::{Config, Family, RopeScaling};
pub use published::{published, published_names};
