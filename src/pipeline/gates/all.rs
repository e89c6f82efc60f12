//! The table of gates.

use crate::pipeline::gate::{Gate, Judgement};
use crate::session::Phase;

const PROGRAMS: &[&str] = &["pilotfish.toml", "program/"];
const MODEL: &[&str] = &["pilotfish.toml"];

/// In the order in which the phases ask for them.
pub fn gates() -> &'static [Gate] {
    GATES
}

const fn row(
    id: &'static str,
    phases: &'static [Phase],
    looks_at: &'static [&'static str],
    claim: &'static str,
) -> Gate {
    Gate {
        id,
        version: 1,
        phases,
        claim,
        looks_at,
        judge: |_| Judgement::blocked("this gate is not built yet"),
    }
}

static GATES: &[Gate] = &[
    row("scope", &[Phase::Reference], MODEL, "the architecture is in scope, every field resolved"),
    row(
        "weights",
        &[Phase::Reference],
        MODEL,
        "every tensor of the checkpoint is used exactly once",
    ),
    row("oracle", &[Phase::Reference], MODEL, "the oracle agrees with an independent reference"),
    row("floor", &[Phase::Reference], MODEL, "lower bounds are known before any kernel"),
    row(
        "documents",
        &[Phase::Reference, Phase::Integration],
        &["plan.md", "perf_opt_traj.md", "issues.md"],
        "the documents say what happened, with receipts",
    ),
    row(
        "legality",
        &[Phase::Kernels, Phase::Prefill, Phase::Decode],
        PROGRAMS,
        "the program breaks no rule of the array",
    ),
    row("kernel", &[Phase::Kernels], PROGRAMS, "every kernel alone agrees with f32 in its band"),
    row("probe", &[Phase::Kernels], PROGRAMS, "exact probes come back bit for bit"),
    row("block", &[Phase::Block], PROGRAMS, "one block agrees with the oracle at every position"),
    row("layers", &[Phase::Model], PROGRAMS, "no layer drifts away from the oracle"),
    row("logits", &[Phase::Model], PROGRAMS, "the logits choose as the oracle's do"),
    row(
        "tokens",
        &[Phase::Model, Phase::Prefill, Phase::Decode, Phase::Integration],
        PROGRAMS,
        "greedy decoding parts from the oracle only where both would take either token",
    ),
    row(
        "faster",
        &[Phase::Prefill, Phase::Decode],
        &["pilotfish.toml", "program/", ".pilotfish/baseline/"],
        "strictly faster than the baseline, and not below the floor",
    ),
    row(
        "placement",
        &[Phase::Model, Phase::Prefill, Phase::Decode, Phase::Integration],
        PROGRAMS,
        "every operator runs where it is said to run",
    ),
    row("repeat", &[Phase::Integration], PROGRAMS, "the same input gives the same bytes"),
    row(
        "evaluator",
        &[Phase::Evaluation],
        &["pilotfish.toml", "program/", ".pilotfish/baseline/", "plan.md", "perf_opt_traj.md"],
        "all of it holds on a clean copy and on inputs drawn after the freeze",
    ),
];
