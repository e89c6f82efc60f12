//! Phase 7: all gates again on a clean copy, then inputs that nobody could know before the freeze.

use crate::base::{Finding, Hash, Hasher};
use crate::model::Stage;
use crate::pipeline::answer::{Answer, Exhibit};
use crate::pipeline::cache::Cache;
use crate::pipeline::case::Case;
use crate::pipeline::device::Device;
use crate::pipeline::evaluate::evaluate;
use crate::pipeline::evidence::{Outcome, Spoken, spoken};
use crate::pipeline::fault::word;
use crate::pipeline::frozen::Frozen;
use crate::pipeline::gate::{Gate, Judgement, gate};
use crate::pipeline::metric::{Bound, hard, recorded};
use crate::pipeline::phase::needs;
use crate::pipeline::prompts::{hidden_seed, long};
use crate::pipeline::receipt::Receipts;
use crate::session::Phase;
use crate::tensor::NoTap;

/// Queries of a tile of attention, and rows that tiles of products are made of.
const BORDER: usize = 64;
/// Tokens decoded after each hidden prompt.
const STEPS: usize = 4;

pub(super) fn evaluator(case: &Case) -> Judgement {
    evaluation(case).0
}

/// What both programs do, whatever is written around it.
fn programs(case: &Case) -> Result<Hash, String> {
    let mut hasher = Hasher::new();
    for stage in Stage::ALL {
        let program = case.sources().deployment.program(stage)?;
        hasher.part(&serde_json::to_vec(&program).map_err(|error| error.to_string())?);
    }
    Ok(hasher.finish())
}

/// The judgement, and that of every gate on the way.
pub(in crate::pipeline) fn evaluation(case: &Case) -> (Judgement, Vec<Answer>) {
    match evaluated(case) {
        Ok(done) => done,
        Err(why) => (Judgement::failed(why), Vec::new()),
    }
}

fn evaluated(case: &Case) -> Result<(Judgement, Vec<Answer>), String> {
    // 1. Audit what is there, before anything runs.
    let original = &case.sources().frozen;
    let mut findings = audit(original);
    let audited = findings.iter().filter(|finding| finding.is_error()).count();
    // 2. The clean room: the snapshot alone, a cache of its own, nothing that was prepared.
    let room = tempfile::tempdir().map_err(|error| format!("no clean room: {error}"))?;
    let copy = original.copy_to(room.path())?;
    // 3. The snapshot is committed to; only now are seeds drawn: from the deployment itself, so
    //    that a changed document or comment does not draw again after a fail.
    let seed = hidden_seed(&programs(case)?, case.seed());
    let cache = Cache::at(room.path().join("cache"));
    let progress = case.sources().progress.clone();
    let clean = Case::with_cache(copy, Phase::Integration, seed, progress, cache)?;
    // 4. All gates again.
    let answers: Vec<Answer> = again()
        .map(|(phase, gate)| {
            clean.sources().progress.say(&format!("again: {}", gate.id));
            evaluate(gate, &clean.in_phase(phase))
        })
        .collect();
    let passed = answers.iter().filter(|answer| answer.judged.passed()).count();
    // 5. Hidden inputs, and one that is too long.
    let hidden = hidden(&clean, seed)?;
    let refused = refuses_longer(&clean)?;
    let fair = hidden.iter().filter(|spoken| is_fair(spoken)).count();
    let lengths: Vec<String> =
        hidden.iter().map(|spoken| spoken.prompt.len().to_string()).collect();
    findings.extend(hidden.iter().filter(|spoken| !is_fair(spoken)).map(unfair));
    // 6. The verdict's numbers.
    let failed = answers.iter().find(|answer| !answer.judged.passed());
    if let Some(answer) = failed {
        let words = answer.judged.headline.clone();
        findings.push(Finding::error(answer.judged.gate.as_str(), words).rule("gate"));
    }
    let metrics = vec![
        hard("audit", audited as f64, Bound::Exactly(0.0)),
        hard("gates_passed", passed as f64, Bound::Exactly(answers.len() as f64)),
        hard("hidden_fair", fair as f64, Bound::Exactly(hidden.len() as f64)),
        hard("longer_refused", f64::from(u8::from(refused)), Bound::Exactly(1.0)),
        recorded("hidden_prompts", hidden.len() as f64),
    ];
    let headline = match failed {
        Some(answer) => format!(
            "{passed} of {} gates pass; `{}`: {}",
            answers.len(),
            answer.judged.gate,
            answer.judged.headline
        ),
        None => format!(
            "{passed} gates pass on a clean copy, {fair} of {} hidden prompts ({} tokens) are fair",
            hidden.len(),
            lengths.join(", ")
        ),
    };
    let cases = answers.len() + hidden.len();
    let mut judgement = Judgement { cases, metrics, headline, findings, ..Judgement::default() };
    judgement.notes = vec![
        (
            "audited",
            "settings, programs, baselines, documents, links, the chain of receipts".into(),
        ),
        ("hidden_lengths", lengths.join(", ")),
        ("hidden_seed", format!("{seed:016x}")),
        ("gates", gates_text(&answers)),
    ];
    let text =
        serde_json::to_string(&answers.iter().map(|answer| &answer.judged).collect::<Vec<_>>());
    judgement.exhibits.push(Exhibit::new(
        "evaluation",
        judgement.headline.clone(),
        text.unwrap_or_default(),
    ));
    Ok((judgement, answers))
}

/// Every gate in the last phase that asks for it; `faster` for each stage.
fn again() -> impl Iterator<Item = (Phase, &'static Gate)> {
    let phases = Phase::ALL.into_iter().filter(|phase| *phase < Phase::Evaluation);
    let asked = phases.flat_map(|phase| needs(phase).iter().map(move |id| (phase, *id)));
    let asked: Vec<(Phase, &str)> = asked.collect();
    let last = asked.clone();
    asked.into_iter().enumerate().filter_map(move |(at, (phase, id))| {
        let again = last[at + 1..].iter().any(|(_, later)| *later == id);
        if again && id != "faster" { None } else { Some((phase, gate(id)?)) }
    })
}

/// What must not be in a workspace, and what must be whole.
fn audit(frozen: &Frozen) -> Vec<Finding> {
    let mut findings = frozen.findings.clone();
    let (_, broken) = Receipts::at(&frozen.root).verify();
    findings.extend(broken);
    findings
}

/// One token, both sides of a border, the border itself, and the whole sequence.
fn lengths(seq: usize, seed: u64) -> Vec<usize> {
    let borders = (seq.saturating_sub(1) / BORDER).max(1);
    let border = BORDER * (1 + word(seed, 7) as usize % borders);
    let between = 1 + word(seed, 8) as usize % seq.max(1);
    let mut lengths = vec![1, border - 1, border, border + 1, between, seq];
    lengths.retain(|length| (1..=seq).contains(length));
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

fn hidden(case: &Case, seed: u64) -> Result<Vec<Spoken>, String> {
    let sources = case.sources();
    let model = sources.deployment.model()?;
    let lengths = lengths(sources.deployment.settings.seq, seed);
    let each = lengths.into_iter().enumerate().map(|(at, length)| {
        let prompt = long(model, length, seed.wrapping_add(1 + at as u64))?;
        spoken(sources, &prompt, STEPS)
    });
    each.collect()
}

/// Up to the first difference both would take either token, and all of it is numbers.
fn is_fair(spoken: &Spoken) -> bool {
    let outcomes = spoken.outcomes();
    let first = outcomes.iter().find(|outcome| outcome.got != outcome.expected);
    outcomes.len() == spoken.wanted
        && first.is_none_or(Outcome::is_mutual)
        && outcomes.iter().all(|outcome| outcome.non_finite == 0)
}

/// Where a hidden prompt parted from the oracle, and by how much either side stood behind it.
fn unfair(spoken: &Spoken) -> Finding {
    let prompt = spoken.prompt.len();
    let outcomes = spoken.outcomes();
    let first = outcomes.iter().enumerate().find(|(_, outcome)| outcome.got != outcome.expected);
    let words = first.map_or_else(
        || format!("{} of {} steps were decoded", outcomes.len(), spoken.wanted),
        |(at, outcome)| {
            let rank = |rank: Option<usize>| rank.map_or("beyond 5".into(), |at| at.to_string());
            format!(
                "token {at}: {} for {}, ranks {} and {}; the oracle leads by {:.3}",
                outcome.got,
                outcome.expected,
                rank(outcome.got_rank),
                rank(outcome.expected_rank),
                outcome.lead,
            )
        },
    );
    Finding::error(format!("hidden prompt of {prompt} tokens"), words).rule("hidden")
}

/// A prompt that does not fit must be refused: a target that cuts it short answers another question.
fn refuses_longer(case: &Case) -> Result<bool, String> {
    let sources = case.sources();
    let tokens = sources.deployment.settings.seq + 1;
    let prompt = long(sources.deployment.model()?, tokens, 1)?;
    let mut device = Device::open(&sources.deployment)?;
    Ok(device.prefill(&prompt.ids, crate::model::Logits::Last, &mut NoTap).is_err())
}

fn gates_text(answers: &[Answer]) -> String {
    let lines = answers.iter().map(|answer| {
        let judged = &answer.judged;
        format!("{} ({}): {} · {}", judged.gate, judged.phase, judged.verdict, judged.headline)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gate_is_judged_again_and_the_lengths_hold_what_they_must() {
        let ids: Vec<&str> = again().map(|(_, gate)| gate.id).collect();
        for gate in crate::pipeline::gates() {
            let times = ids.iter().filter(|id| **id == gate.id).count();
            let wanted = match gate.id {
                "evaluator" => 0,
                "faster" => 2,
                _ => 1,
            };
            assert_eq!(times, wanted, "{}", gate.id);
        }
        for seed in 0..50 {
            let lengths = lengths(512, seed);
            assert!(lengths.contains(&1) && lengths.contains(&512), "{lengths:?}");
            assert!(lengths.iter().any(|length| length % 64 == 63), "{lengths:?}");
        }
        assert_eq!(lengths(1, 3), [1]);
    }
}
