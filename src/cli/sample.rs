//! The text that the deployed network says, as its last run on the simulator left it.

use crate::session::{CallState, State, ToolOutcome};

/// The sample in lines, if there was a run.
pub(super) fn lines(state: &State) -> Option<Vec<String>> {
    let runs = state.calls.iter().rev().filter(|record| record.call.tool == "simulate");
    let mut texts = runs.filter_map(|record| match &record.state {
        CallState::Ended(ToolOutcome::Done { value, .. }) => value["text"].as_str(),
        _ => None,
    });
    let text = texts.next()?;
    let mut lines = vec!["the deployed network says:".to_owned()];
    lines.extend(text.lines().map(|line| format!("  {line}")));
    Some(lines)
}
