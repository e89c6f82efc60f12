//! What the documents say: an entry for each phase, and numbers that their receipts bear out.

use crate::base::{Finding, Hash};
use crate::pipeline::case::Case;
use crate::pipeline::gate::Judgement;
use crate::pipeline::metric::{Bound, hard, recorded};
use crate::pipeline::phase::entries;
use crate::pipeline::receipt::{Receipt, Receipts};
use crate::session::Phase;

const DOCUMENTS: [&str; 4] = ["plan.md", "perf_opt_traj.md", "issues.md", "lessons.md"];

/// The shortest that may stand for a receipt.
const SHORTEST: usize = 12;

pub(super) fn documents(case: &Case) -> Judgement {
    let frozen = &case.sources().frozen;
    let (chain, broken) = Receipts::at(&frozen.root).verify();
    let mut judgement = Judgement { findings: broken, ..Judgement::default() };
    let breaks = judgement.findings.len();
    // 1. Each phase so far has left its word.
    let mut missing = 0;
    for phase in Phase::ALL.into_iter().filter(|phase| *phase <= case.phase()) {
        for entry in entries(phase) {
            judgement.cases += 1;
            let text = frozen.text(entry.document).unwrap_or_default();
            if !entry.is_in(&text, phase) {
                missing += 1;
                let words = format!("says nothing of phase {} · {}", phase.number(), phase.title());
                judgement.findings.push(Finding::error(entry.document, words).rule("documents"));
            }
        }
    }
    // 2. What cites a receipt cites one that exists, and says what it says.
    let (mut cited, mut unknown, mut contradicted, mut unmeasured) = (0, 0, 0, 0);
    for document in DOCUMENTS {
        let text = frozen.text(document).unwrap_or_default();
        for (at, line) in text.lines().enumerate() {
            let place = format!("{document}:{}", at + 1);
            let hashes = hashes(line);
            for hash in &hashes {
                cited += 1;
                match chain.iter().find(|(name, _)| name.as_str().starts_with(hash)) {
                    None => {
                        unknown += 1;
                        let words = format!("no receipt `{hash}` is in the chain");
                        judgement
                            .findings
                            .push(Finding::error(place.clone(), words).rule("receipt"));
                    }
                    Some((_, receipt)) if contradicts(line, receipt) => {
                        contradicted += 1;
                        let words = format!("receipt `{hash}` measured something else");
                        judgement
                            .findings
                            .push(Finding::error(place.clone(), words).rule("receipt"));
                    }
                    Some(_) => (),
                }
            }
            unmeasured += usize::from(hashes.is_empty() && is_measured(line));
        }
    }
    judgement.metrics = vec![
        hard("missing_entries", f64::from(missing), Bound::Exactly(0.0)),
        hard("unknown_receipts", f64::from(unknown), Bound::Exactly(0.0)),
        hard("contradicted", f64::from(contradicted), Bound::Exactly(0.0)),
        hard("chain_breaks", breaks as f64, Bound::Exactly(0.0)),
        recorded("cited", f64::from(cited)),
        recorded("unmeasured", unmeasured as f64),
    ];
    let first = judgement.findings.iter().find(|finding| finding.is_error());
    judgement.headline = match first {
        None => format!("{cited} receipts cited, {unmeasured} numbers unmeasured"),
        Some(first) => format!("{}: {}", first.place, first.message),
    };
    judgement
}

/// Names of receipts in a line: long words of hexadecimal digits between backticks.
fn hashes(line: &str) -> Vec<&str> {
    let words = line.split('`').skip(1).step_by(2);
    words
        .filter(|word| {
            let is_hex = word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            is_hex && word.len() >= SHORTEST && word.len() <= Hash::of(b"").as_str().len()
        })
        .collect()
}

/// A row of times that cites the receipt of a time must hold that time, in any usual unit; one
/// that was not kept, any number of the receipt.
fn contradicts(line: &str, receipt: &Receipt) -> bool {
    if receipt.gate.as_str() != "faster" || !line.trim_start().starts_with('|') {
        return false;
    }
    let was_kept = line.split('|').any(|cell| cell.trim() == "kept");
    let asked = receipt.metrics.iter().filter(|m| !was_kept || m.name == "time_us");
    let numbers = numbers(line);
    let near = |number: f64, value: f64| (number - value).abs() <= 0.01 * value.abs() + 0.006;
    let says = |us: f64| {
        let forms = [us, us / 1e3, us / 1e6, if us == 0.0 { 0.0 } else { 1e6 / us }];
        numbers.iter().any(|number| forms.iter().any(|value| near(*number, *value)))
    };
    !numbers.is_empty() && !asked.map(|metric| metric.measured).any(says)
}

/// Numbers outside of backticks.
fn numbers(line: &str) -> Vec<f64> {
    let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let words = plain.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','));
    words.filter_map(|word| word.replace(',', "").trim_end_matches('.').parse().ok()).collect()
}

/// A row of a table with a number and a unit of time in it.
fn is_measured(line: &str) -> bool {
    let units = ["ms", "us", "µs"];
    let has_unit =
        |word: &str| units.contains(&word.trim_matches(|c: char| !c.is_alphabetic() && c != 'µ'));
    line.trim_start().starts_with('|')
        && line.split_whitespace().any(has_unit)
        && !numbers(line).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_and_numbers_are_found_in_a_row() {
        let line = "| 3 | merge `rms` | 12.5 ms | `0123456789ab` |";
        assert_eq!(hashes(line), ["0123456789ab"]);
        assert_eq!(numbers(line), [3.0, 12.5]);
        assert!(is_measured("| 3 | 1,204 us |") && !is_measured("it took 3 ms"));
        assert_eq!(numbers("| 1,204 us |"), [1204.0]);
    }
}
