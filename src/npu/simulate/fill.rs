//! What the host packs into buffers: weights, padded and in the order of the array, and tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::axis::{Axis, HeadShape, Widths, of_role};
use super::content::{Content, Keep, Order, Weight, bf16_bits};
use crate::model::{Model, ModelError, Role};
use crate::tensor::round::bf16_rne;

/// Bytes of bfp16 forms that are kept; past it they are made anew for each use.
const KEPT_BYTES: usize = 3 << 29;

/// Packs each weight once, however often the program writes it.
pub(super) struct Fills {
    model: Arc<Model>,
    packed: BTreeMap<Key, Arc<Vec<u16>>>,
    contents: BTreeMap<(Key, Order), Content>,
    room: usize,
}

/// Stages whose heads are padded differently share what does not depend on heads.
type Key = (Packing, Option<HeadShape>);

/// A weight as rows of `inputs` for `outputs`, both as wide as the buffer wants them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Packing {
    pub role: Role,
    /// `None` for the whole model's.
    pub layer: Option<usize>,
    pub outputs: usize,
    pub inputs: usize,
    /// First output that this buffer holds: partitions of a head start elsewhere than at 0.
    pub first: usize,
}

impl Fills {
    pub(super) fn new(model: Arc<Model>) -> Self {
        let room = if model.weights.is_streamed() { 0 } else { KEPT_BYTES };
        Self { model, packed: BTreeMap::new(), contents: BTreeMap::new(), room }
    }

    pub(super) fn model(&self) -> &Model {
        &self.model
    }

    pub(super) fn weight(
        &mut self,
        packing: Packing,
        order: Order,
        widths: &Widths,
    ) -> Result<Content, ModelError> {
        let (out_axis, in_axis) = of_role(packing.role);
        let by_heads = [Some(out_axis), in_axis].iter().flatten().any(|axis| axis.is_of_heads());
        let key = (packing, by_heads.then(|| widths.deployed()));
        if let Some(content) = self.contents.get(&(key, order)) {
            return Ok(content.clone());
        }
        let bits = if let Some(bits) = self.packed.get(&key) {
            Arc::clone(bits)
        } else {
            let bits = Arc::new(self.pack(packing, widths)?);
            self.packed.insert(key, Arc::clone(&bits));
            bits
        };
        let bytes = bits.len() * size_of::<f32>();
        let keep = if order == Order::Columns && bytes <= self.room {
            self.room -= bytes;
            Keep::Grid
        } else {
            Keep::BitsOnly
        };
        let content = Content::Weight(Arc::new(Weight::new(bits, packing.inputs, order, keep)));
        self.contents.insert((key, order), content.clone());
        Ok(content)
    }

    fn pack(&self, packing: Packing, widths: &Widths) -> Result<Vec<u16>, ModelError> {
        let Packing { role, layer, outputs, inputs, first } = packing;
        let tensor = self.model.weights.get(role, layer)?;
        let (out_axis, in_axis) = of_role(role);
        let Some(in_axis) = in_axis else {
            // A row: norms that are averaged over padding too are scaled to make up for it.
            let real = widths.real(out_axis);
            let scale = match role {
                Role::QBias | Role::KBias | Role::VBias => 1.0,
                _ => (real as f64 / inputs as f64).sqrt() as f32,
            };
            let mut row = vec![0.0; inputs];
            for (value, place) in tensor.data.iter().zip(widths.places(out_axis)) {
                if let Some(to) = row.get_mut(place) {
                    *to = value * scale;
                }
            }
            return Ok(bf16_bits(&row));
        };
        let columns = widths.places(in_axis);
        let plain = inputs == columns.len() && columns.last() == Some(&(inputs - 1));
        if plain && out_axis != Axis::Queries && first == 0 && outputs * inputs == tensor.data.len()
        {
            return Ok(bf16_bits(&tensor.data));
        }
        let mut packed = vec![0; outputs * inputs];
        for (row, place) in tensor.data.chunks_exact(columns.len()).zip(widths.places(out_axis)) {
            let Some(to) = place.checked_sub(first).filter(|to| *to < outputs) else {
                continue;
            };
            let to = &mut packed[to * inputs..(to + 1) * inputs];
            for (bits, column) in bf16_bits(row).into_iter().zip(&columns) {
                if let Some(to) = to.get_mut(*column) {
                    *to = bits;
                }
            }
        }
        Ok(packed)
    }

    /// Rows of cosines and then sines, in bf16; padding of a head does not turn.
    pub(super) fn rope_table(&self, start: usize, rows: usize, head_dim: usize) -> Content {
        let turns = self.model.config.inverse_frequencies();
        let half = head_dim / 2;
        let mut table = Vec::with_capacity(rows * head_dim);
        for position in start..start + rows {
            let angle = |j: usize| turns.get(j).map_or(0.0, |turn| position as f64 * turn);
            table.extend((0..half).map(|j| bf16_rne(angle(j).cos() as f32)));
            table.extend((0..half).map(|j| bf16_rne(angle(j).sin() as f32)));
        }
        Content::of(table)
    }

    /// Rows of the embedding; places after the tokens repeat the first id of the vocabulary.
    pub(super) fn embed(
        &self,
        tokens: &[u32],
        rows: usize,
        width: usize,
    ) -> Result<Vec<f32>, ModelError> {
        let table = self.model.weights.get(Role::Embed, None)?;
        let mut out = vec![0.0; rows * width];
        for (row, out) in out.chunks_exact_mut(width).enumerate() {
            let id = tokens.get(row).map_or(0, |id| *id as usize);
            let from = table.row(id.min(table.rows() - 1));
            let count = from.len().min(width);
            out[..count].copy_from_slice(&from[..count]);
        }
        Ok(out)
    }
}
