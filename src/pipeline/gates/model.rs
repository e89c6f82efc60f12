//! Phase 3: drift by layer, the logits, and the words that come of them.

use serde_json::json;

use super::block::curves;
use crate::pipeline::answer::Exhibit;
use crate::pipeline::case::Case;
use crate::pipeline::evidence::{Outcome, Score, Spoken, companion_noise, median};
use crate::pipeline::gate::Judgement;
use crate::pipeline::metric::{Bound, hard, recorded, soft};
use crate::pipeline::prompts::Prompt;
use crate::session::Metric;
use crate::tensor::Comparison;

/// Of some numbers the smallest; no number if any is none.
fn least(of: impl Iterator<Item = f64>) -> f64 {
    of.reduce(|a, b| if a < b || a.is_nan() { a } else { b }).unwrap_or(f64::NAN)
}

fn most(of: impl Iterator<Item = f64>) -> f64 {
    -least(of.map(|x| -x))
}

pub(super) fn layers(case: &Case) -> Judgement {
    let layers = match case.layers() {
        Ok(layers) => layers,
        Err(why) => return Judgement::failed(why),
    };
    let scores = layers.scores();
    let of = |value: fn(&Score) -> f64| scores.iter().map(value);
    let steps = |value: fn(&Score) -> f64| {
        most(scores.windows(2).map(move |pair| (value(&pair[0]) - value(&pair[1])).abs()))
    };
    let step = if scores.len() < 2 { 0.0 } else { steps(|score| score.median) };
    let whole_step = if scores.len() < 2 { 0.0 } else { steps(|score| score.cosine) };
    let quarter = scores.len().div_ceil(4);
    let part = |scores: &[Score]| median(scores.iter().map(|score| score.ratio).collect());
    let first = part(&scores[..quarter.min(scores.len())]);
    let last = part(&scores[scores.len() - quarter.min(scores.len())..]);
    let judged = |name: &str, measured: f64, bound: Bound| {
        if case.is_hf() { soft(name, measured, bound) } else { hard(name, measured, bound) }
    };
    let limit = |name: &str, own: f64| case.limit("layers", name, own);
    let non_finite: usize = scores.iter().map(|score| score.non_finite).sum();
    let metrics = vec![
        judged(
            "cosine_median",
            least(of(|score| score.median)),
            Bound::AtLeast(limit("cosine_median", 0.98)),
        ),
        judged(
            "cosine_p5",
            least(of(|score| score.fifth)),
            Bound::AtLeast(limit("cosine_p5", 0.95)),
        ),
        judged("step", step, Bound::Below(limit("step", 0.02))),
        judged("r_ratio.growth", last / first, Bound::AtMost(limit("r_ratio_growth", 1.5))),
        judged(
            "r_ratio.worst",
            most(of(|score| score.ratio)),
            Bound::AtMost(limit("r_ratio", 3.0)),
        ),
        hard("norm_ratio.least", least(of(|score| score.norm_ratio)), Bound::Within(0.9, 1.1)),
        hard("norm_ratio.most", most(of(|score| score.norm_ratio)), Bound::Within(0.9, 1.1)),
        judged("keys", least(of(|score| score.keys)), Bound::AtLeast(limit("keys", 0.95))),
        judged("values", least(of(|score| score.values)), Bound::AtLeast(limit("values", 0.95))),
        judged(
            "sink_error",
            most(of(|score| score.sink_error)),
            Bound::AtMost(limit("sink_error", 0.6)),
        ),
        hard("non_finite", non_finite as f64, Bound::Exactly(0.0)),
        soft("whole_cosine", least(of(|score| score.cosine)), Bound::AtLeast(0.85)),
        soft("whole_step", whole_step, Bound::Below(0.05)),
        recorded("r_ratio.first_quarter", first),
        recorded("r_ratio.last_quarter", last),
    ];
    let worst = scores.iter().min_by(|a, b| a.median.total_cmp(&b.median));
    let headline = match worst {
        Some(worst) => format!(
            "{} layers: least median cosine {:.5} at layer {}, R {first:.2} → {last:.2}",
            scores.len(),
            worst.median,
            worst.index
        ),
        None => "no layer was judged".into(),
    };
    let exhibits = vec![curves(&layers, &scores)];
    Judgement {
        cases: scores.len() * layers.positions(),
        metrics,
        headline,
        exhibits,
        ..Judgement::default()
    }
}

pub(super) fn logits(case: &Case) -> Judgement {
    let spoken = match with_noise(case) {
        Ok(spoken) => spoken,
        Err(why) => return Judgement::failed(why),
    };
    let mut judgement = Judgement::default();
    let (mut wrong, mut decisive, mut not_mutual, mut non_finite) = (0, 0, 0, 0);
    let (mut cosines, mut sizes, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (spoken, noise) in &spoken {
        for (step, outcome) in spoken.steps.iter().zip(spoken.outcomes()) {
            let compared = Comparison::with_worst(&step.expected, &step.got, 0);
            rows.push(json!({
                "prompt": spoken.name,
                "position": outcome.position,
                "cosine": compared.cosine,
                "norm_ratio": compared.norm_ratio,
                "rmse": compared.rmse,
                "probability": outcome.probability,
                "lead": outcome.lead,
                "decisive": outcome.is_decisive(*noise),
            }));
            cosines.push(compared.cosine);
            sizes.push(compared.norm_ratio);
            non_finite += outcome.non_finite;
            if outcome.is_decisive(*noise) {
                decisive += 1;
                wrong += usize::from(outcome.got != outcome.expected);
            } else {
                not_mutual += usize::from(!outcome.is_mutual());
            }
        }
        judgement.notes.push(("noise", format!("{}: {noise:.4}", spoken.name)));
    }
    judgement.cases = cosines.len();
    let first = spoken.iter().filter_map(|(spoken, _)| spoken.steps.first());
    let predicted = least(first.map(|s| Comparison::with_worst(&s.expected, &s.got, 0).cosine));
    let lowest = least(cosines.iter().copied());
    judgement.metrics = vec![
        hard("cosine.least", lowest, case.at_least("logits", "cosine", 0.95)),
        recorded("cosine.prediction", predicted),
        recorded("cosine.median", median(cosines.clone())),
        hard("norm_ratio", median(sizes), Bound::Within(0.9, 1.1)),
        hard("decisive_wrong", f64::from(wrong as u32), Bound::Exactly(0.0)),
        hard("not_mutual", f64::from(not_mutual as u32), Bound::Exactly(0.0)),
        hard("non_finite", non_finite as f64, Bound::Exactly(0.0)),
        recorded("decisive", f64::from(decisive as u32)),
    ];
    judgement.headline = format!(
        "{} positions: least cosine {lowest:.5}, median {:.5}; {decisive} decisive, {wrong} of them \
         wrong",
        judgement.cases,
        median(cosines)
    );
    let headline = judgement.headline.clone();
    judgement.exhibits = vec![Exhibit::new("logits", headline, json!(rows).to_string())];
    judgement
}

/// Each prompt with what rounding alone does to a logit of it.
fn with_noise(case: &Case) -> Result<Vec<(Spoken, f64)>, String> {
    let each = case.spoken()?;
    let each = each.iter().map(|spoken| {
        let prompt = Prompt { name: spoken.name.clone(), ids: spoken.prompt.clone() };
        let noise = match spoken.steps.first() {
            Some(first) => companion_noise(case.sources(), &prompt, &first.expected)?,
            None => 0.0,
        };
        Ok((spoken.clone(), noise))
    });
    each.collect()
}

pub(super) fn tokens(case: &Case) -> Judgement {
    let spoken = match case.spoken() {
        Ok(spoken) => spoken,
        Err(why) => return Judgement::failed(why),
    };
    let mut judgement = judge_spoken(case, &spoken);
    judgement.exhibits.extend(sample(case, &spoken));
    judgement
}

/// What both sides write after the short prompt, for people to read.
fn sample(case: &Case, spoken: &[Spoken]) -> Option<Exhibit> {
    let deployment = &case.sources().deployment;
    let tokenizer = deployment.model().ok()?.tokenizer.as_ref()?;
    let spoken = spoken.first()?;
    let outcomes = spoken.outcomes();
    let outcomes = &outcomes[..outcomes.len().min(deployment.settings.tokens)];
    let text = |of: fn(&Outcome) -> u32| {
        let ids: Vec<u32> = spoken.prompt.iter().copied().chain(outcomes.iter().map(of)).collect();
        tokenizer.decode(&ids)
    };
    let parts = outcomes.iter().position(|outcome| outcome.got != outcome.expected);
    let (headline, content) = match parts {
        None => ("the oracle's text".to_owned(), text(|outcome| outcome.got)),
        Some(at) => (
            format!(
                "the oracle's text up to token {at}, then its own choices on the oracle's words"
            ),
            format!(
                "{}\n\noracle: {}",
                text(|outcome| outcome.got),
                text(|outcome| outcome.expected)
            ),
        ),
    };
    let headline = format!("{} tokens, greedy: {headline}", outcomes.len());
    Some(Exhibit::new("sample", headline, content))
}

/// The claim of `tokens` on any prompts.
fn judge_spoken(case: &Case, spoken: &[Spoken]) -> Judgement {
    let mut judgement = Judgement::default();
    let (mut metrics, mut parts): (Vec<Metric>, Vec<String>) = (Vec::new(), Vec::new());
    let mut exhibit = Vec::new();
    for (at, spoken) in spoken.iter().enumerate() {
        let outcomes = spoken.outcomes();
        let steps = outcomes.len();
        let divergence = outcomes.iter().position(|outcome| outcome.got != outcome.expected);
        // Up to there both have said the same freely.
        let fair = divergence.is_none_or(|at| outcomes[at].is_mutual());
        let same = outcomes.iter().filter(|outcome| outcome.got == outcome.expected).count();
        let mutual = outcomes.iter().filter(|outcome| outcome.is_mutual()).count();
        let share = |count: usize| count as f64 / steps.max(1) as f64;
        let non_finite: usize = outcomes.iter().map(|outcome| outcome.non_finite).sum();
        metrics.extend([
            hard(format!("steps.{at}"), steps as f64, Bound::AtLeast(spoken.wanted as f64)),
            hard(format!("first_divergence.{at}"), f64::from(u8::from(fair)), Bound::Exactly(1.0)),
            hard(
                format!("agreement.{at}"),
                share(mutual),
                case.at_least("tokens", "agreement", 0.9),
            ),
            hard(format!("keys.{at}"), spoken.keys, case.at_least("tokens", "keys", 0.95)),
            hard(format!("values.{at}"), spoken.values, case.at_least("tokens", "values", 0.95)),
            hard(format!("non_finite.{at}"), non_finite as f64, Bound::Exactly(0.0)),
            recorded(format!("identical.{at}"), share(same)),
            recorded(format!("free_until.{at}"), divergence.unwrap_or(steps) as f64),
        ]);
        parts.push(match divergence {
            None => format!("{steps} of {steps} the same after {} tokens", spoken.prompt.len()),
            Some(at) => format!(
                "the same up to token {at} of {steps} after {} tokens, {same} in all",
                spoken.prompt.len()
            ),
        });
        judgement.cases += steps;
        exhibit.push(json!({ "prompt": spoken.name, "steps": outcomes.iter().map(step).collect::<Vec<_>>() }));
    }
    judgement.metrics = metrics;
    judgement.headline =
        if parts.is_empty() { "no token was judged".into() } else { parts.join("; ") };
    let headline = judgement.headline.clone();
    judgement.exhibits = vec![Exhibit::new("tokens", headline, json!(exhibit).to_string())];
    judgement
}

fn step(outcome: &Outcome) -> serde_json::Value {
    json!({
        "position": outcome.position,
        "expected": outcome.expected,
        "got": outcome.got,
        "got_rank": outcome.got_rank,
        "expected_rank": outcome.expected_rank,
        "probability": outcome.probability,
        "lead": outcome.lead,
    })
}
