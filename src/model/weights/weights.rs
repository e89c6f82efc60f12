//! All weights of a network: an inventory of what is held, and f32 tensors by role on demand.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::base::{Finding, plural};
use crate::model::weights::Bytes;
use crate::model::weights::names::Place;
use crate::model::weights::synthetic;
use crate::model::{Config, ModelError, Role};
use crate::tensor::{Dtype, Tensor, blocks};

/// One tensor of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    pub name: String,
    pub role: Option<Role>,
    pub layer: Option<usize>,
    pub dtype: Dtype,
    /// `[out, in]`
    pub shape: Vec<usize>,
    /// Whether the network reads it. A head beside a tied embedding is not read.
    pub used: bool,
    /// Bytes as stored.
    pub bytes: usize,
}

/// Where the numbers of a tensor come from.
#[derive(Clone, Debug)]
pub(in crate::model) enum Origin {
    /// A range of a file. With `heads`, rows of each head are interleaved for another rotary style.
    Stored { file: Arc<Bytes>, range: Range<usize>, heads: Option<usize> },
    /// Drawn from a seed.
    Drawn { seed: u64, scale: synthetic::Draw },
    /// Another tensor, with zeros between and after its values.
    Padded { of: Arc<Entry>, spread: Spread },
}

/// Where the rows and columns of a tensor go in a larger one.
#[derive(Clone, Debug)]
pub(in crate::model) struct Spread {
    pub rows: Arc<[usize]>,
    pub columns: Option<Arc<[usize]>>,
    pub scale: f32,
}

/// A weight for a reader that decodes it by itself.
pub(in crate::model) enum Raw<'a> {
    Stored { dtype: Dtype, bytes: &'a [u8], heads: Option<usize> },
    Made(Arc<Tensor>),
}

#[derive(Clone, Debug)]
pub(in crate::model) struct Entry {
    pub held: Held,
    pub origin: Origin,
}

#[derive(Debug)]
pub struct Weights {
    entries: Vec<Entry>,
    kept: Vec<OnceLock<Arc<Tensor>>>,
    places: BTreeMap<Place, usize>,
    tied: bool,
    /// Drawn anew for each use: too large to keep.
    streamed: bool,
}

/// Seeded weights of more bytes than this, as f32, are not kept in memory.
const KEPT_BYTES: usize = 3 << 30;

impl Weights {
    /// Checks that everything that the config needs is there once and has the right shape.
    pub(in crate::model) fn new(
        mut entries: Vec<Entry>,
        config: &Config,
        place: &str,
    ) -> Result<Self, ModelError> {
        let mut places = BTreeMap::new();
        for (index, Entry { held, .. }) in entries.iter_mut().enumerate() {
            let Some(role) = held.role else { continue };
            held.used = role.is_in(config) && held.layer.is_none_or(|layer| layer < config.layers);
            if !held.used {
                refuse_silent(held, role, place)?;
                continue;
            }
            let expected = role.shape(config);
            if held.shape != expected {
                return Err(ModelError::Mismatch {
                    place: place.to_owned(),
                    message: format!(
                        "`{}` has shape {:?}, the config asks for {expected:?}",
                        held.name, held.shape
                    ),
                    hint: "config and weights belong to different models".into(),
                });
            }
            if places.insert((role, held.layer), index).is_some() {
                return Err(ModelError::broken(place, format!("`{}` comes twice", held.name)));
            }
        }
        let kept = entries.iter().map(|_| OnceLock::new()).collect();
        let drawn = |entry: &&Entry| matches!(entry.origin, Origin::Drawn { .. });
        let elements = |entry: &Entry| entry.held.shape.iter().product::<usize>();
        let bytes: usize = entries.iter().filter(drawn).map(elements).sum::<usize>() * 4;
        let streamed = bytes > KEPT_BYTES;
        let weights = Self { entries, kept, places, tied: config.tied, streamed };
        weights.nothing_missing(config, place)?;
        Ok(weights)
    }

    fn nothing_missing(&self, config: &Config, place: &str) -> Result<(), ModelError> {
        let mut missing = Vec::new();
        for role in Role::ALL.into_iter().filter(|role| role.is_in(config)) {
            let layers = if role.is_per_layer() { config.layers } else { 1 };
            for layer in 0..layers {
                let layer = role.is_per_layer().then_some(layer);
                if !self.places.contains_key(&(role, layer)) {
                    missing.push(described(role, layer));
                }
            }
        }
        let Some(first) = missing.first() else {
            return Ok(());
        };
        let what = match missing.len() {
            1 => first.clone(),
            more => format!("{first} (and {} more)", plural(more - 1, "tensor")),
        };
        let hint = "nothing is newly initialised: the checkpoint must hold every weight";
        Err(ModelError::Missing { place: place.to_owned(), what, hint: hint.into() })
    }

    /// The f32 tensor of a role, `[out, in]`; made on first use and kept. A tied head is the
    /// embedding itself, not a copy.
    pub fn get(&self, role: Role, layer: Option<usize>) -> Result<Arc<Tensor>, ModelError> {
        let index = self.index(role, layer)?;
        // Two threads may both make it, and one of them is thrown away: holding a lock while
        // waiting for a thread pool could wait for ever.
        if let Some(tensor) = self.kept[index].get() {
            return Ok(Arc::clone(tensor));
        }
        let made = self.entries[index].load();
        if self.streamed {
            return Ok(made);
        }
        Ok(Arc::clone(self.kept[index].get_or_init(|| made)))
    }

    /// Whether tensors are drawn anew for each use, since all of them do not fit in memory.
    pub fn is_streamed(&self) -> bool {
        self.streamed
    }

    fn index(&self, role: Role, layer: Option<usize>) -> Result<usize, ModelError> {
        let role = if role == Role::Output && self.tied { Role::Embed } else { role };
        self.places.get(&(role, layer)).copied().ok_or_else(|| {
            let message = format!("this network has no {}", described(role, layer));
            ModelError::input(message, "ask `Role::is_in` first")
        })
    }

    /// The bytes of a weight as its file has them, or its values where there is no file.
    pub(in crate::model) fn raw(
        &self,
        role: Role,
        layer: Option<usize>,
    ) -> Result<Raw<'_>, ModelError> {
        let Entry { held, origin } = &self.entries[self.index(role, layer)?];
        if let Origin::Stored { file, range, heads } = origin {
            let (dtype, heads) = (held.dtype, *heads);
            return Ok(Raw::Stored { dtype, bytes: &file[range.clone()], heads });
        }
        self.get(role, layer).map(Raw::Made)
    }

    /// The same weights for a larger network, made from these when asked for.
    pub(in crate::model) fn spread(
        &self,
        config: &Config,
        spread: impl Fn(Role) -> Spread,
    ) -> Vec<Entry> {
        let grown = |entry: &Entry| {
            let role = entry.held.role.filter(|_| entry.held.used)?;
            let held = Held { shape: role.shape(config), ..entry.held.clone() };
            let (of, spread) = (Arc::new(entry.clone()), spread(role));
            Some(Entry { held, origin: Origin::Padded { of, spread } })
        };
        self.entries.iter().filter_map(grown).collect()
    }

    /// Every tensor of the checkpoint, in the order of the file.
    pub fn inventory(&self) -> impl ExactSizeIterator<Item = &Held> {
        self.entries.iter().map(|entry| &entry.held)
    }

    /// The bytes as stored, of all that the network reads.
    pub fn bytes(&self) -> usize {
        self.inventory().filter(|held| held.used).map(|held| held.bytes).sum()
    }

    /// What the checkpoint holds and the network does not read, as one finding.
    pub(in crate::model) fn unread(&self, place: &str) -> Vec<Finding> {
        let unread: Vec<&str> =
            self.inventory().filter(|held| !held.used).map(|held| held.name.as_str()).collect();
        let Some(first) = unread.first() else {
            return Vec::new();
        };
        let message =
            format!("{} not read, the first of them `{first}`", plural(unread.len(), "tensor"));
        vec![Finding::note(place, message)]
    }

    /// Each file once, in order.
    pub(in crate::model) fn files(&self) -> Vec<&Arc<Bytes>> {
        let mut files: Vec<&Arc<Bytes>> = Vec::new();
        for entry in &self.entries {
            if let Origin::Stored { file, .. } = &entry.origin
                && !files.iter().any(|other| Arc::ptr_eq(other, file))
            {
                files.push(file);
            }
        }
        files
    }
}

/// A bias or a norm that is there and would not be applied makes every number wrong.
fn refuse_silent(held: &Held, role: Role, place: &str) -> Result<(), ModelError> {
    if !matches!(role, Role::QBias | Role::KBias | Role::VBias | Role::QNorm | Role::KNorm) {
        return Ok(());
    }
    Err(ModelError::OutOfScope {
        place: place.to_owned(),
        reason: format!("`{}` is there, and networks of this family have no `{role}`", held.name),
    })
}

fn described(role: Role, layer: Option<usize>) -> String {
    match layer {
        Some(layer) => format!("`{role}` of layer {layer}"),
        None => format!("`{role}`"),
    }
}

impl Entry {
    fn load(&self) -> Arc<Tensor> {
        let mut tensor = Tensor::zeros(self.held.shape.clone());
        match &self.origin {
            Origin::Stored { file, range, heads } => {
                blocks::dequantise(self.held.dtype, &file[range.clone()], &mut tensor.data);
                if let Some(heads) = heads {
                    halves_from_pairs(&mut tensor, *heads);
                }
            }
            Origin::Drawn { seed, scale } => {
                synthetic::draw(&self.held.name, *seed, *scale, &mut tensor.data);
            }
            Origin::Padded { of, spread } => spread.fill(&of.load(), &mut tensor),
        }
        Arc::new(tensor)
    }
}

impl Spread {
    fn fill(&self, from: &Tensor, to: &mut Tensor) {
        let Some(columns) = &self.columns else {
            for (place, value) in self.rows.iter().zip(&from.data) {
                to.data[*place] = value * self.scale;
            }
            return;
        };
        for (index, row) in self.rows.iter().enumerate() {
            let (from, to) = (from.row(index), to.row_mut(*row));
            for (place, value) in columns.iter().zip(from) {
                to[*place] = value * self.scale;
            }
        }
    }
}

/// GGUF keeps q and k of Llama for a rotary that turns neighbours: rows `2j` and `2j + 1` of a head
/// are `j` and `j + head_dim / 2` of ours.
fn halves_from_pairs(tensor: &mut Tensor, heads: usize) {
    let rows = tensor.shape.first().copied().unwrap_or(0);
    let width = tensor.data.len().checked_div(rows).unwrap_or(0);
    let head_dim = rows.checked_div(heads).unwrap_or(0);
    if head_dim == 0 || width == 0 {
        return;
    }
    let mut turned = vec![0.0; head_dim * width];
    for head in tensor.data.chunks_exact_mut(head_dim * width) {
        for (row, from) in head.chunks_exact(width).enumerate() {
            let to = row / 2 + (row % 2) * (head_dim / 2);
            turned[to * width..(to + 1) * width].copy_from_slice(from);
        }
        head.copy_from_slice(&turned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Cache, Logits, Model, Oracle};
    use crate::tensor::NoTap;

    #[test]
    fn neighbours_become_halves() {
        let mut tensor = Tensor::new([8, 1], (0..8_u8).map(f32::from).collect());
        halves_from_pairs(&mut tensor, 2);
        assert_eq!(tensor.data, [0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0]);
    }

    #[test]
    fn what_is_drawn_for_each_use_is_the_same_each_time() {
        let config = Model::bundled("tiny-llama").unwrap().config;
        let logits = |streamed| {
            let mut model = Model::synthetic("tiny", config.clone(), 3).unwrap();
            model.weights.streamed = streamed;
            let oracle = Oracle::new(Arc::new(model)).unwrap();
            let mut cache = Cache::new(oracle.config(), 8);
            oracle.prefill(&[1, 2, 3], Logits::All, &mut cache, &mut NoTap).unwrap().data
        };
        assert_eq!(logits(true), logits(false));
    }
}
