//! Buffer objects: each has a side of the host and a side of the array; nothing else links them.
//!
//! A static is written once, by whoever reads it first, and is stale for ever after. An activation
//! is written before each dispatch that reads it and read back after each that makes it. An
//! intermediate is never touched by the host. What nobody wrote is garbage.

use super::content::Content;
use super::plan::Slot;
use crate::npu::{Residency, Scope};

/// Objects by buffer, and by layer where each layer has its own.
pub(super) struct Memory {
    objects: Vec<Vec<Object>>,
}

#[derive(Clone, Default)]
struct Object {
    host: Content,
    array: Content,
    written: bool,
}

impl Memory {
    pub(super) fn new(slots: &[Slot], layers: usize) -> Self {
        let count = |slot: &Slot| match slot.buffer.scope {
            Scope::Layer => layers.max(1),
            Scope::Model => 1,
        };
        Self { objects: slots.iter().map(|slot| vec![Object::default(); count(slot)]).collect() }
    }

    /// The object that a key means: the layer's own, or the one of all layers.
    fn at(&mut self, slot: usize, layer: usize) -> &mut Object {
        let objects = &mut self.objects[slot];
        let layer = if objects.len() == 1 { 0 } else { layer };
        &mut objects[layer]
    }

    /// Whether the host writes the buffer before a dispatch that reads it.
    pub(super) fn is_due(&mut self, slot: usize, layer: usize, residency: Residency) -> bool {
        match residency {
            Residency::Static => !self.at(slot, layer).written,
            Residency::Activation => true,
            Residency::Intermediate => false,
        }
    }

    /// The host writes the buffer: with a fill, or with what its own side holds.
    pub(super) fn write(&mut self, slot: usize, layer: usize, fill: Option<Content>) {
        let object = self.at(slot, layer);
        if let Some(fill) = fill {
            object.host = fill;
        }
        object.array = object.host.clone();
        object.written = true;
    }

    /// The host reads the buffer back.
    pub(super) fn read_back(&mut self, slot: usize, layer: usize) {
        let object = self.at(slot, layer);
        object.host = object.array.clone();
    }

    pub(super) fn array(&mut self, slot: usize, layer: usize) -> &mut Content {
        &mut self.at(slot, layer).array
    }

    pub(super) fn host(&mut self, slot: usize, layer: usize) -> &mut Content {
        &mut self.at(slot, layer).host
    }

    /// Lets go of what is written in full before anybody looks at it again.
    pub(super) fn forget(&mut self, slot: usize, layer: usize) {
        *self.at(slot, layer) = Object::default();
    }
}
