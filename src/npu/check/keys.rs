//! A static weight of a layer has an object for each layer: one key for all holds the first's.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Fill, Program, Residency, Scope, Work};

pub(super) fn find(program: &Program, _: &Array) -> Vec<Finding> {
    let mut findings = Vec::new();
    for buffer in &program.buffers {
        let of_layer = match &buffer.fill {
            Some(Fill::Weight(role)) => read_by_layer(program, &buffer.name) && !is_of_model(role),
            _ => false,
        };
        let shared = buffer.scope == Scope::Model && buffer.residency == Residency::Static;
        if of_layer && shared {
            let text = format!(
                "wrong key across layers: static `{}` is one object for {} layers",
                buffer.name, program.layers
            );
            let place = format!("{} · buffer {}", program.stage, buffer.name);
            findings
                .push(Finding::error(place, text).rule("layer-key").hint("use scope = \"layer\""));
        }
    }
    findings
}

fn is_of_model(role: &str) -> bool {
    role.starts_with("output") || role.starts_with("token_embd")
}

fn read_by_layer(program: &Program, name: &str) -> bool {
    let layers = program.dispatches.iter().filter(|dispatch| dispatch.scope == Scope::Layer);
    layers.into_iter().any(|dispatch| match &dispatch.work {
        Work::Host(op) => op.inputs.iter().any(|input| input == name),
        Work::Launches(launches) => {
            launches.iter().any(|launch| launch.inputs.iter().any(|input| input == name))
        }
    })
}
