//! One call of one program: dispatches in order, layer by layer, watched and counted.

use super::axis::{Axis, Widths, of_value};
use super::cache::KvCache;
use super::content::Content;
use super::counters::{Counts, Made, Place};
use super::damage::Damage;
use super::error::SimulateError;
use super::fill::{Fills, Packing};
use super::launch::{Operand, Setting, columns, recast, run, store};
use super::memory::Memory;
use super::plan::{Bound, Part, Plan, Step};
use super::shape::Rows;
use crate::base::Stop;
use crate::model::Role;
use crate::npu::{Fill, HostKind, Kernel, Residency};
use crate::tensor::Tap;

/// What a program needs beside itself while it runs.
pub(super) struct Call<'a> {
    pub plan: &'a Plan,
    pub memory: &'a mut Memory,
    pub sizes: &'a Sizes,
    pub fills: &'a mut Fills,
    pub cache: &'a mut KvCache,
    pub counts: &'a mut Counts,
    pub tap: &'a mut dyn Tap,
    pub stop: &'a Stop,
    pub tokens: &'a [u32],
    /// Position of the first token.
    pub start: usize,
    /// The layer at hand; 0 outside.
    pub layer: usize,
    /// The row whose logits are wanted.
    pub row: usize,
    /// Whether this run counts: a second look at other rows does not.
    pub counting: bool,
    /// Values to show when the layer is over, so that what is written twice is shown once.
    pub shown: Vec<(String, Vec<usize>, Vec<f32>)>,
}

/// Sizes of the deployed network.
pub(super) struct Sizes {
    pub widths: Widths,
    pub layers: usize,
    pub head_dim: usize,
}

impl Call<'_> {
    /// Everything up to the last layer.
    pub(super) fn body(&mut self) -> Result<(), SimulateError> {
        let plan = self.plan;
        for step in &plan.before {
            self.step(step, None)?;
        }
        self.show();
        for layer in 0..self.sizes.layers {
            SimulateError::unless_stopped(self.stop)?;
            self.layer = layer;
            for step in &plan.layer {
                self.step(step, Some(layer))?;
            }
            for (slot, at) in plan.slots.iter().enumerate() {
                if at.is_fleeting {
                    self.memory.forget(slot, layer);
                }
            }
            self.show();
        }
        self.layer = 0;
        Ok(())
    }

    /// What follows the layers, for the row at hand: its logits.
    pub(super) fn tail(&mut self) -> Result<Vec<f32>, SimulateError> {
        let plan = self.plan;
        for step in &plan.after {
            self.step(step, None)?;
        }
        let logits = self.logits()?;
        self.shown.retain(|(name, _, _)| name != "logits");
        self.shown.push(("logits".to_owned(), vec![1, logits.len()], logits.clone()));
        self.show();
        Ok(logits)
    }

    fn step(&mut self, step: &Step, layer: Option<usize>) -> Result<(), SimulateError> {
        match &step.part {
            Part::Host { op, inputs, outputs } => {
                self.host(*op, inputs, outputs)?;
                self.count_host(*op, layer, outputs);
                for output in outputs {
                    self.offer(*output, layer, Place::Host, *op == HostKind::Embed);
                }
            }
            Part::Array { launches, reads, makes } => {
                let written = self.write(reads)?;
                for launch in launches {
                    self.launch(launch);
                    let output = launch.outputs[0];
                    self.count_made(output, Place::Array, launch.kernel.name(), layer);
                    self.offer(output, layer, Place::Array, false);
                }
                let mut read = 0;
                for slot in makes {
                    let buffer = &self.plan.slots[*slot].buffer;
                    if buffer.residency == Residency::Activation {
                        self.memory.read_back(*slot, self.layer);
                        read += buffer.bytes() as u64;
                    }
                }
                if self.counting {
                    self.counts.add(layer, |count| {
                        count.dispatches += 1;
                        count.launches += launches.len();
                        count.bytes_written += written;
                        count.bytes_read += read;
                    });
                }
            }
        }
        Ok(())
    }

    /// The host writes what is due before a dispatch; returns the bytes.
    fn write(&mut self, reads: &[usize]) -> Result<u64, SimulateError> {
        let mut bytes = 0;
        for slot in reads {
            let residency = self.plan.slots[*slot].buffer.residency;
            if self.memory.is_due(*slot, self.layer, residency) {
                let fill = self.fill(*slot)?;
                self.memory.write(*slot, self.layer, fill);
                bytes += self.plan.slots[*slot].buffer.bytes() as u64;
            }
        }
        Ok(bytes)
    }

    fn launch(&mut self, launch: &Bound) {
        let held: Vec<Content> =
            launch.inputs.iter().map(|slot| self.memory.array(*slot, self.layer).clone()).collect();
        let operand = |(content, slot): (_, &usize)| {
            let buffer = &self.plan.slots[*slot].buffer;
            let (dtype, layout) = (buffer.dtype, buffer.layout);
            Operand { content, dtype, layout, elements: buffer.elements() }
        };
        let inputs: Vec<Operand<'_>> = held.iter().zip(&launch.inputs).map(operand).collect();
        let scratch = launch.outputs.get(1).is_some_and(|slot| self.plan.slots[*slot].is_read);
        let operands = launch.kernel.operands();
        let damage = launch.damage.and_then(|damage| damage.at(self.past_calls()));
        let made = if damage == Some(Damage::Zeros) {
            vec![0.0; operands.outputs[0].elements]
        } else {
            let made = run(&launch.kernel, &inputs, self.setting(launch), damage, scratch);
            if let (Some(product), Some(slot)) = (made.scratch, launch.outputs.get(1)) {
                let buffer = &self.plan.slots[*slot].buffer;
                let count = buffer.elements();
                let product = recast(&product, operands.outputs[1].dtype, buffer.dtype, count);
                *self.memory.array(*slot, self.layer) = Content::of(product);
            }
            made.values
        };
        let slot = launch.outputs[0];
        let buffer = &self.plan.slots[slot].buffer;
        let (dtypes, width) = ([operands.outputs[0].dtype, buffer.dtype], columns(&launch.kernel));
        let target = self.memory.array(slot, self.layer);
        *target = store(made, dtypes, buffer.elements(), target, damage, width);
    }

    /// How often the dispatch at hand has run before: once in each layer of each call.
    fn past_calls(&self) -> usize {
        self.counts.calls.saturating_sub(1) * self.sizes.layers.max(1) + self.layer
    }

    fn setting(&self, launch: &Bound) -> Setting {
        let config = &self.fills.model().config;
        let cached = launch.inputs.get(1).is_some_and(|slot| {
            let fill = &self.plan.slots[*slot].buffer.fill;
            matches!(fill, Some(Fill::KeyCache | Fill::ValueCache))
        });
        Setting {
            eps: config.norm_eps,
            scale_dim: config.head_dim,
            offset: cached.then_some(self.start),
        }
    }

    /// What the host would write into a buffer now; `None` when nothing fills it.
    pub(super) fn fill(&mut self, slot: usize) -> Result<Option<Content>, SimulateError> {
        let at = &self.plan.slots[slot];
        let Some(fill) = &at.buffer.fill else { return Ok(None) };
        let rows = self.rows(slot);
        let content = match fill {
            Fill::Weight(role) => self.weight(slot, role, 0)?,
            Fill::WeightRows { role, first } => self.weight(slot, role, *first)?,
            Fill::RopeTable => {
                let width = at.buffer.shape.last().copied().unwrap_or(1);
                self.fills.rope_table(self.start, at.buffer.elements() / width, width)
            }
            Fill::Embedding => {
                Content::rounded(self.fills.embed(self.tokens, rows.count, rows.width)?)
            }
            Fill::KeyCache | Fill::ValueCache => {
                let [keys, values] = self.cache.rows(self.layer, self.start + self.tokens.len());
                let held = if *fill == Fill::KeyCache { keys } else { values };
                Content::rounded(rows.put(held, Axis::Keys, &self.sizes.widths))
            }
            Fill::Zeros => Content::of(vec![0.0; at.buffer.elements()]),
        };
        Ok(Some(content))
    }

    fn weight(&mut self, slot: usize, role: &str, first: usize) -> Result<Content, SimulateError> {
        let at = &self.plan.slots[slot];
        let Some(role) = Role::parse(role) else {
            let text = format!("no network has a `{role}`");
            let place = format!("buffer {}", at.buffer.name);
            return Err(SimulateError::senseless(
                place,
                text,
                "name a role such as `attn_q.weight`",
            ));
        };
        let (rows, width) = match at.buffer.shape.as_slice() {
            [rows, rest @ ..] if !rest.is_empty() => (*rows, rest.iter().product()),
            _ => (1, at.buffer.elements()),
        };
        let (outputs, inputs) = match at.order {
            super::content::Order::Rows => (rows, width),
            super::content::Order::Columns => (width, rows),
        };
        let layer = role.is_per_layer().then_some(self.layer);
        let packing = Packing { role, layer, outputs, inputs, first };
        Ok(self.fills.weight(packing, at.order, &self.sizes.widths)?)
    }

    pub(super) fn rows(&self, slot: usize) -> Rows {
        Rows::of(&self.plan.slots[slot].buffer, self.sizes.head_dim)
    }

    pub(super) fn widths(&self) -> &Widths {
        &self.sizes.widths
    }

    /// Logits as the host reads them: one buffer, or the parts of a partitioned head.
    fn logits(&mut self) -> Result<Vec<f32>, SimulateError> {
        let vocab = self.fills.model().config.vocab;
        let mut logits = vec![f32::NEG_INFINITY; vocab];
        let mut found = false;
        for step in &self.plan.after {
            let parts: Vec<(usize, usize)> = match &step.part {
                Part::Host { outputs, .. } => outputs.iter().map(|slot| (*slot, 0)).collect(),
                Part::Array { launches, .. } => launches
                    .iter()
                    .map(|launch| (launch.outputs[0], self.first_row(launch)))
                    .collect(),
            };
            for (slot, first) in parts {
                let buffer = &self.plan.slots[slot].buffer;
                if !buffer.name.starts_with("logits") || first >= vocab {
                    continue;
                }
                found = true;
                let count = buffer.elements().min(vocab - first);
                let part = self.memory.host(slot, 0).values(count);
                logits[first..first + count].copy_from_slice(&part);
            }
        }
        if found {
            return Ok(logits);
        }
        let hint = "a host operator `lm-head`, or GEMVs, must make buffers named `logits`";
        Err(SimulateError::senseless("after the layers", "nothing makes `logits`", hint))
    }

    /// Where the rows of a partition of the head begin.
    fn first_row(&self, launch: &Bound) -> usize {
        let weight = matches!(launch.kernel, Kernel::Gemv { .. } | Kernel::Gemm { .. });
        match launch.inputs.get(1).map(|slot| &self.plan.slots[*slot].buffer.fill) {
            Some(Some(Fill::WeightRows { first, .. })) if weight => *first,
            _ => 0,
        }
    }

    fn count_host(&mut self, op: HostKind, layer: Option<usize>, outputs: &[usize]) {
        if !self.counting {
            return;
        }
        // The cache grows beside the program in every deployment: it is no call of its own.
        if op != HostKind::CacheWrite {
            self.counts.add(layer, |count| count.host_ops += 1);
        }
        let word = serde_json::to_value(op).ok();
        let word = word.as_ref().and_then(|word| word.as_str()).unwrap_or_default();
        for output in outputs {
            self.count_made(*output, Place::Host, word, layer);
        }
    }

    fn count_made(&mut self, slot: usize, place: Place, operator: &str, layer: Option<usize>) {
        if !self.counting {
            return;
        }
        let name = &self.plan.slots[slot].buffer.name;
        let made = Made { place, operator: operator.to_owned(), in_layer: layer.is_some() };
        match self.counts.made.get_mut(name) {
            Some(known) => *known = made,
            None => drop(self.counts.made.insert(name.clone(), made)),
        }
    }

    /// Keeps a value that the tap wants, without layout and padding.
    fn offer(&mut self, slot: usize, layer: Option<usize>, side: Place, embedded: bool) {
        if self.tap.idle() {
            return;
        }
        let own = if embedded { "embed" } else { &self.plan.slots[slot].buffer.name };
        let Some(axis) = of_value(own).filter(|axis| *axis != Axis::Vocab) else { return };
        let name = match layer {
            Some(layer) => format!("layers.{layer}.{own}"),
            None => own.to_owned(),
        };
        if !self.tap.wants(&name) {
            return;
        }
        let rows = self.rows(slot);
        let content = match side {
            Place::Array => self.memory.array(slot, self.layer),
            Place::Host => self.memory.host(slot, self.layer),
        };
        let count = self.tokens.len().min(rows.count);
        let values =
            rows.take(&content.values(rows.count * rows.width), count, axis, &self.sizes.widths);
        self.shown.retain(|(known, _, _)| *known != name);
        self.shown.push((name, vec![count, values.len() / count], values));
    }

    fn show(&mut self) {
        for (name, shape, values) in self.shown.drain(..) {
            if self.tap.wants(&name) {
                self.tap.take(&name, &shape, &values);
            }
        }
    }
}
