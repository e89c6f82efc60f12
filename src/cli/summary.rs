//! The end of a deployment in a few lines: how fast it became, by category, and the verdict.

use crate::runtime::Outcome;
use crate::session::{Cost, State};

const STAGES: [(&str, &str); 2] = [("prefill", "per prompt"), ("decode", "per token")];

/// The first and the last row of each stage, and where the gain came from.
pub(super) fn table(state: &State) -> Vec<String> {
    let mut lines = Vec::new();
    for (stage, unit) in STAGES {
        let (Some(first), Some(last)) =
            (state.trajectory.baseline(stage), state.trajectory.best(stage))
        else {
            continue;
        };
        if lines.is_empty() {
            lines.push(format!(
                "{:<28}{:>11}{:>11}{:>11}{:>11}{:>11}{:>9}",
                "predicted, in ms", "total", "dispatch", "upload", "tile", "host", "×"
            ));
        }
        let (before, after) = (first.profiled.cost, last.profiled.cost);
        let ratio = before.total_us() / after.total_us();
        let name = |what: &str| format!("{stage} {unit}, {what}");
        lines.push(row(&name("naive"), &before, ""));
        lines.push(row(&name("last"), &after, &format!("{ratio:.2}")));
        lines.push(row(&name("gain"), &difference(&before, &after), ""));
    }
    lines
}

fn row(name: &str, cost: &Cost, ratio: &str) -> String {
    let ms = |us: f64| format!("{:.3}", us / 1e3);
    let cells = [cost.total_us(), cost.dispatch_us, cost.upload_us, cost.tile_us, cost.host_us];
    let cells = cells.map(|us| format!("{:>11}", ms(us))).concat();
    format!("{name:<28}{cells}{ratio:>9}").trim_end().to_owned()
}

fn difference(before: &Cost, after: &Cost) -> Cost {
    Cost {
        dispatch_us: before.dispatch_us - after.dispatch_us,
        upload_us: before.upload_us - after.upload_us,
        tile_us: before.tile_us - after.tile_us,
        host_us: before.host_us - after.host_us,
    }
}

/// The last judgement of each gate in one line, then the verdict.
pub(super) fn ending(state: &State) -> Vec<String> {
    let mut lines = Vec::new();
    if !state.gates.is_empty() {
        let mark = |passed| if passed { '✓' } else { '✗' };
        let gates =
            state.gates.values().map(|last| format!("{}{}", last.gate, mark(last.passed())));
        lines.push(format!("gates: {}", gates.collect::<Vec<_>>().join(" ")));
    }
    for last in state.gates.values().filter(|last| !last.passed()) {
        lines.push(format!("{}: {} · {}", last.gate, last.verdict, last.headline));
    }
    if let Some(why) = &state.blocker {
        lines.push(format!("a person is needed: {why}"));
    }
    let verdict = state.gates.get(&"evaluator".into());
    lines.push(match (Outcome::of(state), verdict) {
        (_, Some(last)) => format!("verdict: {} · {}", last.verdict, last.headline),
        (Outcome::Failed, None) => "verdict: none · a gate failed before the evaluation".to_owned(),
        (_, None) => {
            let (number, title) = (state.phase.number(), state.phase.title());
            format!("verdict: none · it stands in phase {number} · {title}")
        }
    });
    lines
}
