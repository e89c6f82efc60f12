//! Safetensors, one file or several shards with an index.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use safetensors::{Dtype as Stored8, SafeTensors};
use serde_json::Value;

use crate::model::ModelError;
use crate::model::weights::names::{Named, hugging_face};
use crate::model::weights::{Bytes, Entry, Held, Origin};
use crate::tensor::Dtype;

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// All tensors of the checkpoint in a folder, in order of name.
pub(in crate::model) fn open_folder(folder: &Path) -> Result<Vec<Entry>, ModelError> {
    let index = folder.join(INDEX);
    let mut entries = Vec::new();
    if index.exists() {
        for shard in shards(&index)? {
            let path = folder.join(&shard);
            if !path.exists() {
                return Err(ModelError::Missing {
                    place: index.display().to_string(),
                    what: format!("shard `{shard}`"),
                    hint: format!("put `{shard}` into `{}`", folder.display()),
                });
            }
            entries.extend(read(&Arc::new(Bytes::open(&path)?))?);
        }
    } else {
        let path = folder.join(SINGLE);
        if !path.exists() {
            return Err(ModelError::Missing {
                place: folder.display().to_string(),
                what: format!("`{SINGLE}` (or `{INDEX}` with its shards)"),
                hint: "put the weights beside `config.json`, or name a GGUF file".into(),
            });
        }
        entries = read(&Arc::new(Bytes::open(&path)?))?;
    }
    entries.sort_by(|a, b| a.held.name.cmp(&b.held.name));
    Ok(entries)
}

/// The names of the shards, each once. A name that leaves the folder is refused.
fn shards(index: &Path) -> Result<BTreeSet<String>, ModelError> {
    let place = index.display().to_string();
    let text = fs::read_to_string(index).map_err(|error| ModelError::io(index, error))?;
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| ModelError::broken(&place, format!("not JSON: {error}")))?;
    let Some(map) = value.get("weight_map").and_then(Value::as_object) else {
        return Err(ModelError::broken(place, "no `weight_map`"));
    };
    let mut shards = BTreeSet::new();
    for shard in map.values() {
        match shard.as_str() {
            Some(name) if !name.contains(['/', '\\']) && !name.starts_with('.') => {
                shards.insert(name.to_owned());
            }
            _ => return Err(ModelError::broken(place, format!("{shard} is not a file's name"))),
        }
    }
    Ok(shards)
}

/// The tensors of one file. The header is checked against the file before anything is read.
pub(in crate::model) fn read(file: &Arc<Bytes>) -> Result<Vec<Entry>, ModelError> {
    let place = file.place();
    let (header, metadata) = SafeTensors::read_metadata(file)
        .map_err(|error| ModelError::broken(&place, said(file, &error.to_string())))?;
    let start = header + 8;
    let tensors: BTreeMap<String, _> = metadata.tensors().into_iter().collect();
    let mut entries = Vec::with_capacity(tensors.len());
    for (name, tensor) in tensors {
        let named = hugging_face(&name);
        if named == Named::Derived {
            continue;
        }
        let (role, layer) = match named {
            Named::Is((role, layer)) => (Some(role), layer),
            _ => (None, None),
        };
        let dtype = dtype(tensor.dtype).ok_or_else(|| ModelError::Unsupported {
            place: place.clone(),
            what: format!("dtype {:?} of `{name}`", tensor.dtype),
            hint: "F32, F16 and BF16 are read".into(),
        })?;
        let (from, to) = tensor.data_offsets;
        let range = start + from..start + to;
        let values = tensor.shape.iter().try_fold(1_usize, |a, b| a.checked_mul(*b));
        if range.end > file.len() || values.and_then(|n| dtype.bytes(n)) != Some(range.len()) {
            return Err(ModelError::broken(place, format!("`{name}` does not fill its bytes")));
        }
        let (shape, bytes) = (tensor.shape.clone(), range.len());
        let held = Held { name, role, layer, dtype, shape, used: false, bytes };
        let origin = Origin::Stored { file: Arc::clone(file), range, heads: None };
        entries.push(Entry { held, origin });
    }
    Ok(entries)
}

fn dtype(stored: Stored8) -> Option<Dtype> {
    match stored {
        Stored8::F32 => Some(Dtype::F32),
        Stored8::F16 => Some(Dtype::F16),
        Stored8::BF16 => Some(Dtype::BF16),
        _ => None,
    }
}

/// What the library says, with the numbers that it leaves out.
fn said(file: &[u8], error: &str) -> String {
    let length = file.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    format!("{error} (the file has {} bytes and claims a header of {length})", file.len())
}
