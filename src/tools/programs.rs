//! The two program files of a deployment: read with findings, written whole.

use serde_json::{Value, json};

use super::change;
use super::hand::{At, Failure};
use super::kit::Kit;
use crate::base::{Finding, Hash};
use crate::model::Stage;
use crate::npu::{Profile, Program, ProgramText, cost, gain};
use crate::pipeline::DECODE_CONTEXT;
use crate::session::{Cost, Event};
use crate::workspace::Path;

/// Places in the KV cache beyond the prompt, whatever sample a person wants printed.
const LONGEST_ANSWER: usize = 128;

/// For schemas of arguments.
pub(super) fn stage_schema() -> Value {
    json!({ "type": "string", "enum": Stage::ALL.map(Stage::name) })
}

pub(super) fn path(stage: Stage) -> Path {
    Path::new(&format!("program/{stage}.toml")).expect("a plain path of the workspace")
}

pub(super) fn capacity(kit: &Kit) -> usize {
    kit.settings.seq + kit.settings.tokens.max(LONGEST_ANSWER)
}

/// The text of a program file as it is now.
pub(super) fn text(kit: &Kit, stage: Stage) -> Result<String, Failure> {
    let path = path(stage);
    Ok(kit.workspace.text(&path).map_err(|error| {
        if error.is_missing() {
            format!("there is no `{path}` yet\n hint: `lower` makes it")
        } else {
            error.to_string()
        }
    })?)
}

pub(super) fn read(kit: &Kit, stage: Stage) -> Result<ProgramText, Failure> {
    parse(stage, &text(kit, stage)?)
}

pub(super) fn parse(stage: Stage, text: &str) -> Result<ProgramText, Failure> {
    let path = path(stage);
    let (program, findings) = ProgramText::parse(path.as_str(), text);
    match program {
        Some(program) if !findings.iter().any(Finding::is_error) => Ok(program),
        _ => Err(Failure::of_findings(&format!("`{path}` is no program"), &findings)),
    }
}

/// What is written of a proposed text: all of it, some hunks, or what a person made of it.
pub(super) fn answered(at: &At<'_>, path: &Path, old: &str, new: &str) -> Result<String, Failure> {
    let chosen = change::answered(at.kit, path, old.as_bytes(), new.into(), at.answer);
    let bytes = chosen.map_err(|outcome| outcome.text().to_owned())?;
    Ok(String::from_utf8(bytes)?)
}

/// Replaces a program file; what a person had written there is backed up.
pub(super) fn write(kit: &Kit, stage: Stage, text: &str) -> Result<Event, Failure> {
    let path = path(stage);
    let old = kit.workspace.hash(&path)?;
    let written = kit.workspace.write(&path, text.as_bytes(), old.as_ref())?;
    Ok(Event::DocumentSaved { path: path.to_string(), hash: written.hash })
}

pub(super) fn hash(text: &str) -> Hash {
    Hash::of(text.as_bytes())
}

/// Predicted time of one call: the whole compiled sequence, or one token.
pub(super) fn timed(program: &Program, kit: &Kit) -> Profile {
    cost(program, &kit.array(), context(program))
}

/// Half of the 80 % interval of what a change saves, in microseconds.
pub(super) fn doubt(before: &Program, after: &Program, kit: &Kit) -> f64 {
    gain(before, after, &kit.array(), context(after)).half_us
}

pub(super) fn context(program: &Program) -> usize {
    if program.stage == Stage::Decode { DECODE_CONTEXT } else { program.seq }
}

/// The four parts as the log has them.
pub(super) fn parts(profile: &Profile) -> Cost {
    let crate::npu::Cost { dispatch, upload, tile, host } = profile.cost;
    Cost { dispatch_us: dispatch, upload_us: upload, tile_us: tile, host_us: host }
}

/// A profile in few numbers, as recipes read it.
pub(super) fn told(profile: &Profile) -> Value {
    let parts = profile.cost.categories();
    let largest = parts.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("", |part| part.0);
    json!({
        "cost": self::parts(profile),
        "total_us": profile.total_us(),
        "bottleneck": largest,
        "dispatches_per_layer": profile.dispatches_per_layer,
        "dispatches": profile.dispatches,
        "launches": profile.launches,
        "upload_bytes": profile.upload_bytes,
        "error_percent": profile.calibration_error_pct,
    })
}
