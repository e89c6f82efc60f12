//! `lower`: the naive program of both stages, by rule, and the baseline of every later claim.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::hand::{At, Failure, Hand};
use super::programs::{capacity, path, timed, told};
use super::tool::{BadCall, Ran};
use super::undo::forget;
use crate::base::{Finding, file};
use crate::model::Stage;
use crate::npu::{Buffer, ProgramText, lower};
use crate::policy::Footprint;
use crate::session::{Event, ToolOutcome};

pub(super) struct Lower;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    seq: Option<usize>,
}

impl Hand for Lower {
    type Args = Args;
    const NAME: &'static str = "lower";
    const DOC: &'static str = "Writes the naive program of both stages: one launch a dispatch, \
        everything written on each call, attention on the host. It is the baseline.";

    fn properties() -> Value {
        json!({ "seq": { "type": "integer", "minimum": 1,
            "description": "Tokens of a compiled prefill; what the settings say if left out." } })
    }

    fn footprint(_: &Args) -> Result<Footprint, BadCall> {
        let writes = Stage::ALL.map(path).to_vec();
        Ok(Footprint { writes, simulates: true, ..Footprint::default() })
    }

    fn work(args: Args, at: &At<'_>) -> Result<Ran, Failure> {
        let kit = at.kit;
        let outline = kit.outline()?;
        let seq = args.seq.unwrap_or(kit.settings.seq);
        let (mut value, mut all) = (Map::new(), Vec::new());
        let mut texts = Vec::new();
        for stage in Stage::ALL {
            let (program, findings) = lower(&outline, &kit.array(), stage, seq, capacity(kit));
            let profile = timed(&program, kit);
            let mut row = told(&profile);
            row["bytes"] = json!(program.buffers.iter().map(Buffer::bytes).sum::<usize>());
            row["buffers"] = json!(program.buffers.len());
            value.insert(stage.to_string(), row);
            all.extend(findings);
            texts.push((stage, ProgramText::new(program), profile));
        }
        if all.iter().any(Finding::is_error) {
            return Err(Failure::of_findings("the model has no naive program", &all));
        }
        value.insert("findings".to_owned(), json!(all));
        let (mut lines, mut facts) = (Vec::new(), Vec::new());
        for (stage, text, profile) in texts {
            let bytes = text.text().as_bytes();
            let place = kit.workspace.private(&format!("baseline/{stage}.toml"));
            file::replace(&place, bytes, &kit.workspace.private("staging"), "tool-write")?;
            let written = kit.workspace.write(&path(stage), bytes, None)?;
            forget(kit, stage)?;
            facts.push(Event::DocumentSaved { path: path(stage).to_string(), hash: written.hash });
            let parts = profile.cost.categories();
            let parts = parts.map(|(name, us)| format!("{name} {:.3} ms", us / 1e3));
            lines.push(format!(
                "{stage}: {} dispatches a layer, {:.3} ms predicted ({})",
                profile.dispatches_per_layer,
                profile.total_us() / 1e3,
                parts.join(", "),
            ));
        }
        let outcome = ToolOutcome::done(lines.join("\n"), Value::Object(value));
        Ok(Ran { outcome, facts })
    }
}
