//! Weights by role, whatever file they come from.

mod bytes;
mod cursor;
mod gguf;
mod names;
mod safetensors;
mod synthetic;
mod weights;

pub(in crate::model) use bytes::Bytes;
pub(in crate::model) use gguf::{Gguf, MAGIC, Value};
pub(in crate::model) use safetensors::{open_folder, read};
pub(in crate::model) use synthetic::{RECIPE, synthetic};
pub(in crate::model) use weights::{Entry, Origin, Raw, Spread};
pub use weights::{Held, Weights};
