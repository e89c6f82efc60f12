//! Evidence on disk, by the hash of all that it depends on: what did not change is not run again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::replace::replace;
use crate::base::{Hash, Hasher};
use crate::tensor::Tensor;

/// Of this layout and of everything that writes into it.
const VERSION: &str = "evidence 1";

/// The most that is kept; the oldest goes first.
const MOST_BYTES: u64 = 1536 << 20;

/// Named tensors, ids and texts that one run left.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Kept {
    pub tensors: BTreeMap<String, Tensor>,
    pub ids: Vec<u32>,
    pub texts: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    hash: Hash,
    shapes: Vec<(String, Vec<usize>)>,
    ids: Vec<u32>,
    texts: BTreeMap<String, String>,
}

/// A folder of evidence, or none at all.
#[derive(Clone, Debug, Default)]
pub(super) struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    pub(super) fn at(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    /// What was kept under these parts, or else what is made now. A cache that cannot be written
    /// costs time and nothing else.
    pub(super) fn get_or<E>(
        &self,
        kind: &str,
        parts: &[&str],
        make: impl FnOnce() -> Result<Kept, E>,
    ) -> Result<Kept, E> {
        let Some(folder) = &self.folder else { return make() };
        let mut hasher = Hasher::new();
        hasher.part(VERSION.as_bytes()).part(kind.as_bytes());
        for part in parts {
            hasher.part(part.as_bytes());
        }
        let path = folder.join(format!("{kind}-{}", hasher.finish()));
        if let Some(kept) = read(&path) {
            return Ok(kept);
        }
        let made = make()?;
        let bytes = made.bytes();
        if fs::create_dir_all(folder).is_ok() {
            make_room(folder, bytes.len() as u64);
            let _ = replace(&path, &bytes); // A full disk is told by whoever must write.
        }
        Ok(made)
    }
}

impl Kept {
    pub(super) fn tensor(&self, name: &str) -> Result<&Tensor, String> {
        self.tensors.get(name).ok_or_else(|| format!("the run shows no `{name}`"))
    }

    fn bytes(&self) -> Vec<u8> {
        let mut data = Vec::new();
        for tensor in self.tensors.values() {
            data.extend_from_slice(bytemuck::cast_slice(&tensor.data));
        }
        let shapes = self.tensors.iter().map(|(name, tensor)| (name.clone(), tensor.shape.clone()));
        let head = Head {
            hash: Hash::of(&data),
            shapes: shapes.collect(),
            ids: self.ids.clone(),
            texts: self.texts.clone(),
        };
        let head = serde_json::to_vec(&head).expect("names, numbers and texts are plain JSON");
        let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
        bytes.extend(head);
        bytes.extend(data);
        bytes
    }
}

fn read(path: &Path) -> Option<Kept> {
    let bytes = fs::read(path).ok()?;
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (head, mut data) = rest.split_at_checked(length)?;
    let head: Head = serde_json::from_slice(head).ok()?;
    if Hash::of(data) != head.hash {
        return None;
    }
    let mut tensors = BTreeMap::new();
    for (name, shape) in head.shapes {
        let count = shape.iter().try_fold(4_usize, |all, size| all.checked_mul(*size))?;
        let (mine, rest) = data.split_at_checked(count)?;
        data = rest;
        tensors.insert(name, Tensor::new(shape, floats(mine)));
    }
    Some(Kept { tensors, ids: head.ids, texts: head.texts })
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

/// Removes the oldest entries until there is room for this many bytes.
fn make_room(folder: &Path, bytes: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let about = entry.metadata().ok()?;
            Some((about.modified().ok()?, entry.path(), about.len()))
        })
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, _, size)| size).sum();
    for (_, path, size) in files {
        if total + bytes <= MOST_BYTES {
            return;
        }
        if fs::remove_file(path).is_ok() {
            total -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_comes_back_and_what_was_changed_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().into());
        let kept = Kept {
            tensors: [("a".to_owned(), Tensor::new([2, 2], vec![1.0, f32::NAN, -0.0, 3.5]))].into(),
            ids: vec![7, 8],
            texts: [("counters".to_owned(), "{}".to_owned())].into(),
        };
        let get = |parts: &[&str], made: &Kept| {
            cache.get_or("told", parts, || Ok::<_, ()>(made.clone())).unwrap()
        };
        get(&["x", "y"], &kept);
        let again = get(&["x", "y"], &Kept::default());
        assert_eq!((again.ids, again.texts), (kept.ids.clone(), kept.texts.clone()));
        let bits =
            |kept: &Kept| kept.tensors["a"].data.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(again.tensors["a"].shape, [2, 2]);
        assert_eq!(bits(&get(&["x", "y"], &Kept::default())), bits(&kept));
        assert_eq!(get(&["xy"], &Kept::default()), Kept::default());
        for file in fs::read_dir(folder.path()).unwrap().flatten() {
            let mut bytes = fs::read(file.path()).unwrap();
            if let Some(last) = bytes.last_mut() {
                *last ^= 1;
            }
            fs::write(file.path(), bytes).unwrap();
        }
        assert_eq!(get(&["x", "y"], &Kept::default()), Kept::default());
    }
}
