//! `kernels`: one row in `kernels.toml` for every kernel and shape that phase 1 has proven.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::hand::{At, Failure, Hand};
use super::kit::Kit;
use super::programs::read;
use super::tool::{BadCall, Ran};
use crate::base::{Hash, plural};
use crate::model::Stage;
use crate::npu::{Kernel, Launch, Work, solo_us};
use crate::pipeline::Receipts;
use crate::policy::Footprint;
use crate::session::{Event, ToolOutcome};
use crate::workspace::Path;

pub(super) struct Kernels;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {}

impl Hand for Kernels {
    type Args = Args;
    const NAME: &'static str = "kernels";
    const DOC: &'static str = "Writes `kernels.toml`: every kernel of both programs with its shape, \
        its tiles, what it takes alone, and the receipt that proves it.";

    fn properties() -> Value {
        json!({})
    }

    fn footprint(_: &Args) -> Result<Footprint, BadCall> {
        Ok(Footprint { writes: vec![place()], simulates: true, ..Footprint::default() })
    }

    fn work(_: Args, at: &At<'_>) -> Result<Ran, Failure> {
        let kit = at.kit;
        let receipt = proof(kit)?;
        let mut rows: BTreeMap<String, (Launch, Vec<String>)> = BTreeMap::new();
        for stage in Stage::ALL {
            let text = read(kit, stage)?;
            for dispatch in &text.program().dispatches {
                let Work::Launches(launches) = &dispatch.work else { continue };
                for launch in launches {
                    let key =
                        format!("{} {:?} {:?}", shape(&launch.kernel), launch.herd, launch.tile);
                    let row = rows.entry(key).or_insert_with(|| (launch.clone(), Vec::new()));
                    row.1.push(format!("{stage}/{}", dispatch.name));
                }
            }
        }
        let count = rows.len();
        let mut text = format!(
            "# The kernels of this deployment, each proven alone in its shape by the gate `kernel`.\n\
             # `predicted_us` is what one call takes alone, by the cost model.\n\
             receipt = \"{receipt}\"\n"
        );
        for (launch, used) in rows.values() {
            text.push_str(&row(launch, used, kit)?);
        }
        let written = kit.workspace.write(&place(), text.as_bytes(), None)?;
        let value = json!({ "rows": count, "receipt": receipt });
        let told =
            format!("{} in `kernels.toml`, proven by {}", plural(count, "row"), receipt.short());
        let saved = Event::DocumentSaved { path: place().to_string(), hash: written.hash };
        Ok(Ran::from(ToolOutcome::done(told, value)).with(saved))
    }
}

fn place() -> Path {
    Path::new("kernels.toml").expect("a plain path of the workspace")
}

/// The last judgement of every kernel alone. Without one there is nothing to write down.
fn proof(kit: &Kit) -> Result<Hash, Failure> {
    let (receipts, broken) = Receipts::at(kit.workspace.root()).verify();
    if let Some(finding) = broken.first() {
        return Err(finding.into());
    }
    let of_kernels = |(_, receipt): &&(Hash, _)| is_proof(receipt);
    let last = receipts.iter().rfind(of_kernels);
    let why = "no judgement has passed the kernels\n hint: have the gate `kernel` judged first";
    Ok(last.map(|(hash, _)| hash.clone()).ok_or(why)?)
}

fn is_proof(receipt: &crate::pipeline::Receipt) -> bool {
    receipt.gate.as_str() == "kernel" && receipt.passed()
}

/// `gemm 512×576×1536`: what makes two launches the same kernel.
fn shape(kernel: &Kernel) -> String {
    let value = json!(kernel);
    let fields = value.as_object().into_iter().flatten();
    let fields: Vec<String> = fields
        .map(|(name, value)| match value {
            Value::String(text) => text.clone(),
            other => format!("{name}={other}"),
        })
        .collect();
    fields.join(" ")
}

fn row(launch: &Launch, used: &[String], kit: &Kit) -> Result<String, Failure> {
    let kernel = toml::Value::try_from(launch.kernel)?;
    let fields: Vec<String> = kernel
        .as_table()
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "kind")
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let crate::npu::Tile { m, k_l2, k_l1, n } = launch.tile;
    let [cols, rows] = launch.herd;
    let mut used = used.to_vec();
    used.dedup();
    let used: Vec<String> = used.iter().map(|name| format!("\"{name}\"")).collect();
    Ok(format!(
        "\n[[kernel]]\nname = \"{}\"\nshape = {{ {} }}\nherd = [{cols}, {rows}]\ntile = {{ m = {m}, k_l2 = {k_l2}, k_l1 = {k_l1}, n = {n} }}\npredicted_us = {:.2}\nused_by = [{}]\n",
        launch.kernel.name(),
        fields.join(", "),
        solo_us(launch, &kit.array()),
        used.join(", "),
    ))
}
