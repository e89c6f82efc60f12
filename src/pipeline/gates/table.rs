//! The table of gates.

use super::{
    block, documents, evaluation, integration, kernels, model, optimisation, placement, reference,
};
use crate::pipeline::case::Case;
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
    judge: fn(&Case) -> Judgement,
) -> Gate {
    Gate { id, version: 1, phases, claim, looks_at, judge }
}

static GATES: &[Gate] = &[
    row(
        "scope",
        &[Phase::Reference],
        MODEL,
        "the architecture is in scope, every field resolved",
        reference::scope,
    ),
    row(
        "weights",
        &[Phase::Reference],
        MODEL,
        "every tensor of the checkpoint is used exactly once",
        reference::weights,
    ),
    row(
        "oracle",
        &[Phase::Reference],
        MODEL,
        "the oracle agrees with an independent reference",
        reference::oracle,
    ),
    row(
        "floor",
        &[Phase::Reference],
        MODEL,
        "lower bounds are known before any kernel",
        reference::floor,
    ),
    row(
        "documents",
        &[Phase::Reference, Phase::Integration],
        &["plan.md", "perf_opt_traj.md", "issues.md"],
        "the documents say what happened, with receipts",
        documents::documents,
    ),
    row(
        "legality",
        &[Phase::Kernels, Phase::Prefill, Phase::Decode],
        PROGRAMS,
        "the program breaks no rule of the array",
        kernels::legality,
    ),
    row(
        "kernel",
        &[Phase::Kernels],
        PROGRAMS,
        "every kernel alone agrees with f32 in its band",
        kernels::kernel,
    ),
    row("probe", &[Phase::Kernels], PROGRAMS, "exact probes come back bit for bit", kernels::probe),
    row(
        "block",
        &[Phase::Block],
        PROGRAMS,
        "one block agrees with the oracle at every position",
        block::block,
    ),
    row("layers", &[Phase::Model], PROGRAMS, "no layer drifts away from the oracle", model::layers),
    row("logits", &[Phase::Model], PROGRAMS, "the logits choose as the oracle's do", model::logits),
    row(
        "tokens",
        &[Phase::Model, Phase::Prefill, Phase::Decode, Phase::Integration],
        PROGRAMS,
        "greedy decoding parts from the oracle only where both would take either token",
        model::tokens,
    ),
    row(
        "faster",
        &[Phase::Prefill, Phase::Decode],
        &["pilotfish.toml", "program/", ".pilotfish/baseline/"],
        "strictly faster than the baseline, and not below the floor",
        optimisation::faster,
    ),
    row(
        "placement",
        &[Phase::Model, Phase::Prefill, Phase::Decode, Phase::Integration],
        PROGRAMS,
        "every operator runs where it is said to run",
        placement::placement,
    ),
    row(
        "repeat",
        &[Phase::Integration],
        PROGRAMS,
        "the same input gives the same bytes",
        integration::repeat,
    ),
    row(
        "evaluator",
        &[Phase::Evaluation],
        &["pilotfish.toml", "program/", ".pilotfish/baseline/", "plan.md", "perf_opt_traj.md"],
        "all of it holds on a clean copy and on inputs drawn after the freeze",
        evaluation::evaluator,
    ),
];
