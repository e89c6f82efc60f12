//! A program made ready to run: names resolved, sizes possible, and what is silently wrong known.

use std::collections::BTreeMap;

use super::content::Order;
use super::damage::{Damage, damages};
use super::error::SimulateError;
use crate::base::nearest;
use crate::npu::{
    Array, Buffer, Dispatch, HostKind, Kernel, Launch, Method, Program, Residency, Scope, Work,
};

/// No buffer of a deployment that we could hold has more values.
const MOST_ELEMENTS: usize = 1 << 31;

pub(super) struct Plan {
    pub slots: Vec<Slot>,
    /// Before the layers, of each layer, after them.
    pub before: Vec<Step>,
    pub layer: Vec<Step>,
    pub after: Vec<Step>,
}

/// A buffer, and how the program uses it.
pub(super) struct Slot {
    pub buffer: Buffer,
    /// How a weight in it is packed: as its first reader wants it.
    pub order: Order,
    pub is_read: bool,
    /// Written in full in each layer before it is read: nothing outlives the layer.
    pub is_fleeting: bool,
}

pub(super) struct Step {
    pub is_layered: bool,
    pub part: Part,
}

pub(super) enum Part {
    /// Slots that the launches read and make, each once.
    Array {
        launches: Vec<Bound>,
        reads: Vec<usize>,
        makes: Vec<usize>,
    },
    Host {
        op: HostKind,
        inputs: Vec<usize>,
        outputs: Vec<usize>,
    },
}

/// A launch with its operands as slots.
pub(super) struct Bound {
    pub kernel: Kernel,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
    pub damage: Option<Damage>,
}

impl Plan {
    pub(super) fn new(program: &Program, array: &Array) -> Result<Self, SimulateError> {
        let mut names = BTreeMap::new();
        for (slot, buffer) in program.buffers.iter().enumerate() {
            let elements = buffer.shape.iter().fold(1_usize, |all, size| all.saturating_mul(*size));
            if elements == 0 || elements > MOST_ELEMENTS {
                let place = format!("{} · buffer {}", program.stage, buffer.name);
                let text = format!("a buffer of shape {:?} cannot be made", buffer.shape);
                return Err(SimulateError::senseless(place, text, "give it a positive size"));
            }
            names.insert(buffer.name.as_str(), slot);
        }
        let damages = damages(program, array);
        let steps = program.dispatches.iter().enumerate().map(|(index, dispatch)| {
            let damage = |launch| damages.get(&(index, launch)).copied();
            Binder { program, names: &names }.step(dispatch, damage)
        });
        let mut before: Vec<Step> = steps.collect::<Result<_, _>>()?;
        let mut slots: Vec<Slot> = program.buffers.iter().map(Slot::new).collect();
        for step in before.iter().rev() {
            step.note(&mut slots);
        }
        let first = before.iter().position(|step| step.is_layered).unwrap_or(before.len());
        let end = before.iter().rposition(|step| step.is_layered).map_or(first, |last| last + 1);
        let after = before.split_off(end);
        let layer = before.split_off(first);
        for (index, slot) in slots.iter_mut().enumerate() {
            let elsewhere = before.iter().chain(&after).any(|step| step.touches(index));
            slot.is_fleeting = slot.buffer.scope == Scope::Layer
                && slot.buffer.residency != Residency::Static
                && !elsewhere
                && is_made_first(index, &layer, slot.buffer.elements());
        }
        Ok(Self { slots, before, layer, after })
    }
}

/// Whether the first that happens to a buffer in the layer is that all of it is written.
fn is_made_first(slot: usize, layer: &[Step], elements: usize) -> bool {
    for step in layer {
        match &step.part {
            Part::Host { inputs, .. } if inputs.contains(&slot) => return false,
            Part::Host { outputs, .. } if outputs.contains(&slot) => return true,
            Part::Host { .. } => {}
            Part::Array { launches, .. } => {
                for launch in launches {
                    if launch.inputs.contains(&slot) {
                        return false;
                    }
                    if let Some(at) = launch.outputs.iter().position(|output| *output == slot) {
                        let made = launch.kernel.operands().outputs[at].elements;
                        return made >= elements && launch.damage.is_none();
                    }
                }
            }
        }
    }
    true
}

impl Slot {
    fn new(buffer: &Buffer) -> Self {
        let buffer = buffer.clone();
        Self { buffer, order: Order::Rows, is_read: false, is_fleeting: false }
    }
}

impl Step {
    /// Notes who reads what; called from the last step to the first, so that the first reader wins.
    fn note(&self, slots: &mut [Slot]) {
        match &self.part {
            Part::Host { inputs, .. } => inputs.iter().for_each(|slot| slots[*slot].is_read = true),
            Part::Array { launches, .. } => {
                for launch in launches.iter().rev() {
                    for (at, slot) in launch.inputs.iter().enumerate() {
                        let slot = &mut slots[*slot];
                        slot.is_read = true;
                        slot.order = match launch.kernel {
                            Kernel::Gemm { .. } if at == 1 => Order::Columns,
                            _ => Order::Rows,
                        };
                    }
                }
            }
        }
    }

    fn touches(&self, slot: usize) -> bool {
        match &self.part {
            Part::Host { inputs, outputs, .. } => inputs.contains(&slot) || outputs.contains(&slot),
            Part::Array { reads, makes, .. } => reads.contains(&slot) || makes.contains(&slot),
        }
    }
}

struct Binder<'a> {
    program: &'a Program,
    names: &'a BTreeMap<&'a str, usize>,
}

impl Binder<'_> {
    fn step(
        &self,
        dispatch: &Dispatch,
        damage: impl Fn(usize) -> Option<Damage>,
    ) -> Result<Step, SimulateError> {
        let place = format!("{} · {}", self.program.stage, dispatch.name);
        let part = match &dispatch.work {
            Work::Host(op) => {
                let (inputs, outputs) =
                    (self.slots(&place, &op.inputs)?, self.slots(&place, &op.outputs)?);
                let (least_in, least_out) = host_operands(op.op);
                if inputs.len() < least_in || outputs.len() < least_out {
                    let text = format!(
                        "the operator takes {least_in} inputs and {least_out} outputs, {} and {} \
                         are named",
                        inputs.len(),
                        outputs.len()
                    );
                    return Err(SimulateError::senseless(place, text, "name all its buffers"));
                }
                Part::Host { op: op.op, inputs, outputs }
            }
            Work::Launches(launches) => {
                let bound = launches.iter().enumerate().map(|(index, launch)| {
                    self.launch(&format!("{place} · launch {}", index + 1), launch, damage(index))
                });
                let launches: Vec<Bound> = bound.collect::<Result<_, _>>()?;
                let reads = once(launches.iter().flat_map(|launch| &launch.inputs));
                let makes = once(launches.iter().flat_map(|launch| &launch.outputs));
                Part::Array { launches, reads, makes }
            }
        };
        Ok(Step { is_layered: dispatch.scope == Scope::Layer, part })
    }

    fn launch(
        &self,
        place: &str,
        launch: &Launch,
        damage: Option<Damage>,
    ) -> Result<Bound, SimulateError> {
        let (inputs, outputs) =
            (self.slots(place, &launch.inputs)?, self.slots(place, &launch.outputs)?);
        let operands = launch.kernel.operands();
        let fused = matches!(launch.kernel, Kernel::Gemm { method: Method::FusedCast, .. });
        let least = operands.outputs.len() - usize::from(fused);
        if inputs.len() < operands.inputs.len() || outputs.len() < least {
            let form = launch.kernel.form();
            let text = format!("`{}` lacks operands", form.name);
            let hint =
                format!("inputs: {}; outputs: {}", form.inputs.join(", "), form.outputs.join(", "));
            return Err(SimulateError::senseless(place, text, hint));
        }
        let sizes = operands.inputs.iter().chain(&operands.outputs).map(|operand| operand.elements);
        if sizes.clone().any(|elements| elements == 0 || elements > MOST_ELEMENTS) {
            let text = format!("`{}` of a size that cannot be", launch.kernel.name());
            return Err(SimulateError::senseless(place, text, "give its sizes positive numbers"));
        }
        Ok(Bound { kernel: launch.kernel, inputs, outputs, damage })
    }

    fn slots(&self, place: &str, names: &[String]) -> Result<Vec<usize>, SimulateError> {
        let find = |name: &String| {
            self.names.get(name.as_str()).copied().ok_or_else(|| {
                let hint = match nearest(name, self.names.keys().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "declare it as a [[buffer]]".to_owned(),
                };
                SimulateError::senseless(place, format!("unknown buffer `{name}`"), hint)
            })
        };
        names.iter().map(find).collect()
    }
}

/// How many buffers an operator of the host must name.
fn host_operands(op: HostKind) -> (usize, usize) {
    match op {
        HostKind::Embed => (0, 1),
        HostKind::Attention => (3, 1),
        HostKind::CacheWrite => (2, 0),
        HostKind::Transpose | HostKind::FinalNorm | HostKind::LmHead => (1, 1),
        HostKind::RmsNorm
        | HostKind::Rope
        | HostKind::SiluMul
        | HostKind::Add
        | HostKind::BiasAdd => (2, 1),
    }
}

fn once<'a>(slots: impl Iterator<Item = &'a usize>) -> Vec<usize> {
    let mut all = Vec::new();
    for slot in slots {
        if !all.contains(slot) {
            all.push(*slot);
        }
    }
    all
}
