//! A change of one file in the form in which it was answered: as called, as edited, or in part.

use serde_json::json;

use super::kit::Kit;
use super::tool::Ran;
use super::work::{failed, refused};
use crate::base::{Finding, Hash};
use crate::npu::format;
use crate::session::{Answer, Artifact, Event, ToolOutcome};
use crate::workspace::{Edit, Patch, Path, SETTINGS, Saved, Settings};

/// Replaces a file that is no document. What was there is frozen first, so that it can come back.
pub(super) fn replace(
    kit: &Kit,
    path: &Path,
    after: Vec<u8>,
    answer: &Answer,
    words: &str,
) -> Result<Ran, ToolOutcome> {
    // 1. What is there, and what is wanted there.
    let before = match kit.workspace.read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.is_missing() => None,
        Err(error) => return Err(failed(error)),
    };
    let old = before.as_deref().unwrap_or_default();
    let after = answered(kit, path, old, canonical(path, after)?, answer)?;
    let after = canonical(path, after)?;
    let patch = Patch::of(path.clone(), old, &after);
    if before.is_some() && patch.is_empty() {
        let text = format!("`{path}` is so already");
        return Ok(ToolOutcome::done(text, json!({ "path": path, "changed": false })).into());
    }
    // 2. Freeze, then write.
    let frozen = match before {
        Some(_) => Some(kit.frozen(format!("before a change of `{path}`")).map_err(failed)?),
        None => None,
    };
    let ours = before.as_deref().map(Hash::of);
    let written = kit.workspace.write(path, &after, ours.as_ref()).map_err(failed)?;
    // 3. Tell.
    let mut ran = told(kit, &patch, words, &written.hash)?;
    ran.facts.splice(0..0, frozen);
    Ok(ran)
}

/// Whether people and minds both write into it, and both must stay.
pub(super) fn is_document(path: &Path) -> bool {
    path.as_std().extension().is_some_and(|kind| kind == "md")
}

/// Changes a document. A person's own edits of it stay.
pub(super) fn save(
    kit: &Kit,
    path: &Path,
    edit: &Edit,
    answer: &Answer,
    words: &str,
) -> Result<Ran, ToolOutcome> {
    let (before, after) = kit.workspace.preview(path, edit).map_err(failed)?;
    let saved = match answer {
        Answer::Edited(_) | Answer::Hunks(_) => {
            let chosen = answered(kit, path, before.as_bytes(), after.into_bytes(), answer)?;
            let chosen = String::from_utf8(chosen).map_err(failed)?;
            kit.workspace.save_as(path, edit, &chosen)
        }
        _ => kit.workspace.save(path, edit),
    };
    let saved = saved.map_err(failed)?;
    let now = kit.workspace.read(path).map_err(failed)?;
    // A recording shows what a document was at any moment.
    kit.keep("document", path.to_string(), &now)?;
    let patch = Patch::of(path.clone(), before.as_bytes(), &now);
    Ok(documented(told(kit, &patch, words, &saved.hash)?, path, &saved))
}

/// What `save` would change, for a person to see before.
pub(super) fn saving(kit: &Kit, path: &Path, edit: &Edit) -> Option<Patch> {
    let (before, after) = kit.workspace.preview(path, edit).ok()?;
    Some(Patch::of(path.clone(), before.as_bytes(), after.as_bytes()))
}

/// What `replace` would change, for a person to see before.
pub(super) fn replacing(kit: &Kit, path: &Path, after: Vec<u8>) -> Option<Patch> {
    let before = kit.workspace.read(path).unwrap_or_default();
    Some(Patch::of(path.clone(), &before, &canonical(path, after).ok()?))
}

/// Adds what a person must know of: their edit was seen, and what of ours gave way to it.
fn documented(mut ran: Ran, path: &Path, saved: &Saved) -> Ran {
    if let ToolOutcome::Done { text, value, .. } = &mut ran.outcome {
        if saved.outside.is_some() {
            text.push_str("\nIt was edited by hand meanwhile; that edit stays.");
        }
        if !saved.left_out.is_empty() {
            let lines = saved.left_out.join("\n  ");
            text.push_str("\nLeft out, because a person changed the same place:\n  ");
            text.push_str(&lines);
        }
        value["changed"] = json!(saved.changed);
        value["by_hand"] = json!(saved.outside.is_some());
        value["left_out"] = json!(saved.left_out);
    }
    if saved.outside.is_some() {
        let text = format!("`{path}` was edited by hand; the edit stays");
        let (kind, artifacts) = ("hand-edit".to_owned(), Vec::new());
        ran.facts.push(Event::Noted { kind, text, artifacts });
    }
    ran
}

/// The text in the form that was answered.
pub(super) fn answered(
    kit: &Kit,
    path: &Path,
    before: &[u8],
    after: Vec<u8>,
    answer: &Answer,
) -> Result<Vec<u8>, ToolOutcome> {
    match answer {
        Answer::Edited(artifact) => kit.artifacts.read(artifact).map_err(failed),
        Answer::Hunks(chosen) => {
            Patch::of(path.clone(), before, &after).apply_hunks(before, chosen).map_err(failed)
        }
        _ => Ok(after),
    }
}

/// The text as the program writes it: files that it reads must be readable.
fn canonical(path: &Path, text: Vec<u8>) -> Result<Vec<u8>, ToolOutcome> {
    let is_program = path.matches("program/*.toml");
    if !is_program && path.as_str() != SETTINGS {
        return Ok(text);
    }
    let text = String::from_utf8(text).map_err(failed)?;
    if is_program {
        let formatted = format(path.as_str(), &text);
        let refuse =
            |findings: Vec<Finding>| refused(&format!("`{path}` is no program"), &findings);
        return formatted.map(String::into_bytes).map_err(refuse);
    }
    let (_, findings) = Settings::parse(&text);
    if findings.iter().any(Finding::is_error) {
        return Err(refused(&format!("`{path}` would not be read"), &findings));
    }
    Ok(text.into_bytes())
}

fn told(kit: &Kit, patch: &Patch, words: &str, hash: &Hash) -> Result<Ran, ToolOutcome> {
    let (path, (added, removed)) = (&patch.path, patch.counts());
    let mut artifacts: Vec<Artifact> = Vec::new();
    if !patch.is_empty() {
        artifacts.push(kit.keep("diff", patch.headline(), &patch.to_bytes())?);
    }
    let value = json!({ "path": path, "hash": hash, "added": added, "removed": removed });
    let text = format!("{words} · {}", patch.headline());
    let ran = Ran::from(ToolOutcome::Done { text, value, artifacts });
    let (path, hash) = (path.to_string(), hash.clone());
    Ok(ran.with(Event::DocumentSaved { path, hash }))
}
