//! Reports for people: every number beside its threshold, and how to see it again.

use std::fmt::Write;

use super::gate::{Gate, Judgement};
use super::receipt::Receipt;
use crate::session::{Metric, MutantJudged};

/// What a pass on made-up weights is called. It can never be shown as a model's pass.
pub(super) const SYNTHETIC: &str = "Pass (synthetic: structure, numerics and time only)";

/// The most metrics of a table; the closest calls come first.
const MOST_ROWS: usize = 60;

/// The text of `reports/<gate>.md`, but for the receipt's own name.
pub(super) fn gate(gate: &Gate, receipt: &Receipt, judgement: &Judgement) -> String {
    let mut text = format!("# Gate `{}`: {}\n\n{}\n\n", gate.id, receipt.verdict, receipt.headline);
    // Writing into a string cannot fail.
    let _ = write!(
        text,
        "Claim: {}.\nPhase {} · {}, {} judged, snapshot `{}`, target {}, weights: {}.\n",
        gate.claim,
        receipt.phase.number(),
        receipt.phase.title(),
        receipt.cases,
        receipt.snapshot.short(),
        receipt.target,
        if receipt.provenance.is_empty() { "unknown" } else { &receipt.provenance },
    );
    metrics(&mut text, &receipt.metrics);
    mutants(&mut text, receipt);
    if !judgement.findings.is_empty() {
        text.push_str("\n## Findings\n\n");
        for finding in &judgement.findings {
            let _ = writeln!(text, "- {}", finding.to_string().replace('\n', "\n  "));
        }
    }
    let short = receipt.notes.iter().filter(|(_, note)| note.len() < 4096);
    for (at, (key, note)) in short.enumerate() {
        if at == 0 {
            text.push_str("\n## Notes\n\n");
        }
        let _ = writeln!(text, "- {key}: {}", note.replace('\n', "\n  - "));
    }
    let _ = write!(
        text,
        "\n## Again\n\n```\npilotfish judge . --gate {}\n```\n\nTimes are predicted on a simulator, not measured on a device.\n",
        gate.id
    );
    text
}

fn metrics(text: &mut String, metrics: &[Metric]) {
    if metrics.is_empty() {
        return;
    }
    text.push_str("\n| metric | measured | asked | margin |\n|---|---:|---|---:|\n");
    let mut rows: Vec<&Metric> = metrics.iter().collect();
    let order = |metric: &Metric| if metric.margin.is_nan() { f64::MIN } else { metric.margin };
    rows.sort_by(|a, b| b.hard.cmp(&a.hard).then(order(a).total_cmp(&order(b))));
    for metric in rows.iter().take(MOST_ROWS) {
        let (asked, margin) = match (metric.hard, metric.threshold.as_str()) {
            (true, asked) => (asked.to_owned(), format!("{:+.3}", metric.margin)),
            (false, "") => ("recorded".to_owned(), String::new()),
            (false, asked) => (format!("recorded beside {asked}"), String::new()),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {asked} | {margin} |",
            metric.name,
            number(metric.measured)
        );
    }
    if let Some(more) = rows.len().checked_sub(MOST_ROWS).filter(|more| *more > 0) {
        let _ = writeln!(text, "\n{more} more are in the receipt.");
    }
}

fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e7).contains(&x.abs()) {
        let text = format!("{x:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.4e}")
    }
}

fn mutants(text: &mut String, receipt: &Receipt) {
    if !receipt.mutants_note.is_empty() {
        let _ = write!(text, "\nMutants: {}.\n", receipt.mutants_note);
    }
    if receipt.mutants.is_empty() {
        return;
    }
    text.push_str("\n| fault shown to the gate | seen | by | margin |\n|---|---|---|---:|\n");
    for MutantJudged { id, killed, by, margin } in &receipt.mutants {
        let seen = match killed {
            Some(true) => "yes",
            Some(false) => "no",
            None => "does not apply",
        };
        let _ = writeln!(text, "| {id} | {seen} | {by} | {margin:+.3} |");
    }
}
