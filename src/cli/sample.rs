//! The text that the deployed network speaks, as its last judgement of tokens left it.

use std::path::Path;

use crate::session::{Artifacts, State};

/// The sample in lines, if a judgement has kept one.
pub(super) fn lines(_workspace: &Path, session: &Path, state: &State) -> Option<Vec<String>> {
    let judged = state.judgements.iter().rev().map(|(_, judged)| judged);
    let mut evidence = judged.flat_map(|judged| &judged.evidence);
    let spoken = evidence.find(|artifact| artifact.kind == "sample")?;
    let text = Artifacts::of(session).text(&spoken.hash).ok()?;
    let mut lines = vec![format!("the deployed network says ({}):", spoken.headline)];
    lines.extend(text.lines().map(|line| format!("  {line}")));
    Some(lines)
}
