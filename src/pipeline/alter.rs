//! A case with a fault in it: what each gate's evidence would be, had the deployment been broken.

use std::sync::Arc;

use super::case::{Altered, Case};
use super::companion::{Companion, Tiers};
use super::evidence::Activations;
use super::fault::Fault;
use crate::model::Stage;
use crate::tensor::Tensor;

impl Case {
    /// Or why the fault does not apply here.
    pub(super) fn altered(&self, gate: &str, fault: Fault) -> Result<Self, String> {
        let altered = match gate {
            "kernel" => self.faulted_kernels(fault)?,
            "block" => Altered::Layers(Arc::new(self.faulted_layers(fault, At::First)?)),
            "layers" => Altered::Layers(Arc::new(self.faulted_layers(fault, At::Hardest)?)),
            "logits" | "tokens" => {
                let spoken = self.spoken()?;
                let faulted = spoken.iter().map(|spoken| spoken.faulted(fault)).collect();
                let faulted: Option<Vec<_>> = faulted;
                Altered::Spoken(Arc::new(faulted.ok_or("it changes no logits by itself")?))
            }
            "faster" if fault == Fault::Empty => Altered::Times(None),
            "faster" => {
                let times = self.times(self.stage())?.ok_or("there are no times")?;
                let faulted = times.faulted(fault).ok_or("it is no matter of time")?;
                Altered::Times(Some(Box::new(faulted)))
            }
            _ => return Err("the gate takes no faults yet".into()),
        };
        Ok(self.with(altered))
    }

    fn faulted_kernels(&self, fault: Fault) -> Result<Altered, String> {
        let honest = self.kernels()?;
        if fault == Fault::Empty {
            return Ok(Altered::Kernels(Arc::default()));
        }
        let mut any = false;
        let faulted = honest.iter().map(|alone| {
            let faulted = alone.faulted(fault);
            any |= faulted.is_some();
            faulted.unwrap_or_else(|| alone.clone())
        });
        let faulted = faulted.collect();
        if any { Ok(Altered::Kernels(Arc::new(faulted))) } else { Err("no kernel has it".into()) }
    }

    /// Most faults edit what was recorded; those of the network itself run one layer again, in
    /// the companion's numbers.
    fn faulted_layers(&self, fault: Fault, at: At) -> Result<Activations, String> {
        let honest = self.layers()?;
        let honest = if at == At::First { honest.block() } else { (*honest).clone() };
        let index = if at == At::First { 0 } else { honest.hardest() };
        let runs = matches!(
            fault,
            Fault::SwappedHeads
                | Fault::CausalOff
                | Fault::SiblingWeights
                | Fault::Truncating
                | Fault::ShiftedValues
        );
        if !runs || (fault == Fault::ShiftedValues && at == At::Hardest) {
            return honest.faulted(fault, index).ok_or_else(|| "it changes nothing here".into());
        }
        let got = self.rerun(&honest, index, fault)?;
        Ok(honest.replaced(index, got))
    }

    fn rerun(&self, honest: &Activations, index: usize, fault: Fault) -> Result<Tensor, String> {
        let deployment = &self.sources().deployment;
        let tiers = Tiers::of(deployment.program(Stage::Prefill)?);
        let model = Arc::clone(deployment.model()?);
        if fault == Fault::SwappedHeads && model.config.heads < 2 {
            return Err("there is one head".into());
        }
        if fault == Fault::SiblingWeights && model.config.layers < 2 {
            return Err("there is one layer".into());
        }
        let companion = Companion::new(model, tiers, honest.positions());
        let before = match index.checked_sub(1) {
            None => companion.embed(&self.long()?.ids).map_err(|error| error.to_string())?,
            Some(before) => (*honest.layers[before].emulated).clone(),
        };
        companion.layer(index, &before, Some(fault)).map_err(|error| error.to_string())
    }

    /// The stage that a phase makes faster.
    pub(super) fn stage(&self) -> Stage {
        use crate::session::Phase;
        if self.phase() == Phase::Decode { Stage::Decode } else { Stage::Prefill }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    First,
    Hardest,
}
