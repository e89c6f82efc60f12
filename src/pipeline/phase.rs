//! What each phase needs before it may close: gates that pass, and an entry in the documents.

use crate::session::Phase;

/// The gates that must pass, in the order in which it makes sense to ask for them.
pub fn needs(phase: Phase) -> &'static [&'static str] {
    match phase {
        Phase::Reference => &["scope", "weights", "oracle", "floor", "documents"],
        Phase::Kernels => &["legality", "kernel", "probe"],
        Phase::Block => &["block"],
        Phase::Model => &["layers", "logits", "tokens", "placement"],
        Phase::Prefill | Phase::Decode => &["legality", "tokens", "faster", "placement"],
        Phase::Integration => &["tokens", "repeat", "placement", "documents"],
        Phase::Evaluation => &["evaluator"],
    }
}

/// A place in a document where a phase must have left its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentEntry {
    pub document: &'static str,
    /// A word that a row of a table must hold; without one, the phase's heading or ticked item.
    pub row: Option<&'static str>,
}

/// Where a phase must be written about before it closes.
///
/// In `plan.md`: a heading with `Phase N` or the phase's title and words under it, or a ticked
/// item of a checklist with either. In `perf_opt_traj.md`: a table row that names the stage.
pub fn entries(phase: Phase) -> &'static [DocumentEntry] {
    const PLAN: DocumentEntry = DocumentEntry { document: "plan.md", row: None };
    const fn row(row: &'static str) -> DocumentEntry {
        DocumentEntry { document: "perf_opt_traj.md", row: Some(row) }
    }
    match phase {
        Phase::Prefill => const { &[PLAN, row("prefill")] },
        Phase::Decode => const { &[PLAN, row("decode")] },
        _ => const { &[PLAN] },
    }
}

impl DocumentEntry {
    pub fn is_in(&self, text: &str, phase: Phase) -> bool {
        match self.row {
            Some(word) => text.lines().any(|line| is_row(line) && holds(line, word)),
            None => has_heading(text, phase) || has_ticked_item(text, phase),
        }
    }
}

fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|') && line.matches('|').count() > 2
}

fn holds(line: &str, word: &str) -> bool {
    line.to_lowercase().contains(&word.to_lowercase())
}

fn names(line: &str, phase: Phase) -> bool {
    let line = line.to_lowercase();
    let numbered = format!("phase {}", phase.number());
    let follows = |at: usize| line[at + numbered.len()..].chars().next();
    line.contains(&phase.title().to_lowercase())
        || line
            .match_indices(&numbered)
            .any(|(at, _)| !follows(at).is_some_and(|c| c.is_ascii_digit()))
}

fn has_heading(text: &str, phase: Phase) -> bool {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with('#') && names(line, phase) {
            let mut below = lines.clone().take_while(|line| !line.starts_with('#'));
            if below.any(|line| !line.trim().is_empty()) {
                return true;
            }
        }
    }
    false
}

fn has_ticked_item(text: &str, phase: Phase) -> bool {
    let ticked = |line: &str| {
        let line = line.trim_start();
        line.starts_with("- [x]") || line.starts_with("- [X]") || line.starts_with("* [x]")
    };
    text.lines().any(|line| ticked(line) && names(line, phase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_heading_with_words_or_a_ticked_item() {
        let check = |text: &str, expected: bool| {
            assert_eq!(entries(Phase::Block)[0].is_in(text, Phase::Block), expected, "{text}");
        };
        check("## Phase 2 · Single block\n\ncosine 0.9998\n", true);
        check("## Phase 2\n\n## Phase 3\nwords\n", false);
        check("- [x] 2 Single block: done\n", true);
        check("- [ ] Phase 2\n", false);
        check("## Phase 21\nwords\n", false);
    }

    #[test]
    fn an_optimisation_phase_needs_a_row() {
        let row = entries(Phase::Decode)[1];
        assert!(row.is_in("| step | stage |\n|---|---|\n| 3 | decode |\n", Phase::Decode));
        assert!(!row.is_in("decode was made faster\n", Phase::Decode));
    }
}
