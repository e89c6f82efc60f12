//! Where each operator ran, by the target's own counters, and why what stayed on the host may stay.

use std::cell::OnceCell;

use serde_json::json;

use crate::base::Finding;
use crate::model::Stage;
use crate::npu::{Profile, cost};
use crate::pipeline::answer::Exhibit;
use crate::pipeline::case::Case;
use crate::pipeline::device::{Placed, placed};
use crate::pipeline::evidence::DECODE_CONTEXT;
use crate::pipeline::exceptions::exception;
use crate::pipeline::gate::Judgement;
use crate::pipeline::metric::{Bound, hard, recorded};
use crate::session::Phase;

pub(super) fn placement(case: &Case) -> Judgement {
    match placed_everywhere(case) {
        Ok(judgement) => judgement,
        Err(why) => Judgement::failed(why),
    }
}

/// Whether the host operators of a stage must be excused by now. While a stage is being worked on
/// they are recorded: each step of it is judged before the next one moves more to the array.
fn asked(phase: Phase, stage: Stage) -> bool {
    match stage {
        Stage::Prefill => phase >= Phase::Decode,
        Stage::Decode => phase >= Phase::Integration,
    }
}

fn placed_everywhere(case: &Case) -> Result<Judgement, String> {
    let spoken = case.spoken()?;
    let counters = spoken.first().map(|spoken| spoken.counters.as_str()).unwrap_or_default();
    let deployment = &case.sources().deployment;
    let config = &deployment.model()?.config;
    let mut judgement = Judgement::default();
    let (mut unexcused, mut on_host, mut by_person, mut rows) = (0, 0, 0, Vec::new());
    let mut words = Vec::new();
    // What cannot be found out excuses nothing.
    let sinks = OnceCell::new();
    let has_sinks = || *sinks.get_or_init(|| case.has_sinks().unwrap_or(false));
    for stage in Stage::ALL {
        let program = deployment.program(stage)?;
        let context = if stage == Stage::Prefill { program.seq } else { DECODE_CONTEXT };
        let profile = cost(program, &deployment.array, context);
        let found = placed(counters, stage)?;
        judgement.metrics.extend([
            hard(format!("operators.{stage}"), found.made.len() as f64, Bound::AtLeast(1.0)),
            recorded(format!("dispatches_per_layer.{stage}"), found.dispatches_per_layer as f64),
            recorded(format!("host_us.{stage}"), profile.cost.host),
        ]);
        words.push(format!("{stage} {} dispatches a layer", found.dispatches_per_layer));
        for operator in &found.made {
            judgement.cases += 1;
            let Placed { value, operator, on_host: host } = operator;
            if !host {
                rows.push(json!({ "stage": stage, "value": value, "operator": operator, "place": "array" }));
                continue;
            }
            on_host += 1;
            let us = host_us(&profile, value);
            let approved = case.limit("placement", &format!("allow-{operator}"), 0.0) > 0.0;
            let row = exception(operator, stage, config, has_sinks);
            let why = match row {
                Some(row) => format!("exception ({}): {}", row.class, row.reason),
                None if approved => "a person approved it".into(),
                None if !asked(case.phase(), stage) => "not moved yet".into(),
                None => {
                    unexcused += 1;
                    let words =
                        format!("`{operator}` of {stage} runs on the host, {us:.0} us a call");
                    let place = format!("program/{stage}.toml · {value}");
                    let hint = "move it to the array, or let a person allow it";
                    judgement
                        .findings
                        .push(Finding::error(place, words).rule("placement").hint(hint));
                    "nothing allows it".into()
                }
            };
            by_person += usize::from(approved && row.is_none());
            rows.push(json!({
                "stage": stage,
                "value": value,
                "operator": operator,
                "place": "host",
                "host_us": us,
                "published_host_us": row.map(|row| row.host_us),
                "device_us": row.map(|row| row.device_us),
                "why": why,
                "source": row.map(|row| row.source.as_str()),
            }));
        }
        let (heads, useful) = (program.heads, config.heads);
        if heads > useful {
            let text = format!("{stage}: {heads} query heads deployed, {useful} of them useful");
            words.push(text.clone());
            judgement.notes.push(("padding", text));
        }
    }
    judgement.metrics.extend([
        hard("unexcused", f64::from(unexcused), Bound::Exactly(0.0)),
        recorded("on_host", f64::from(on_host)),
        recorded("approved_by_a_person", by_person as f64),
    ]);
    judgement.headline = format!(
        "{}; {on_host} operators on the host, {unexcused} without a reason",
        words.join(", ")
    );
    judgement.notes.push(("placement", json!(rows).to_string()));
    let headline = judgement.headline.clone();
    judgement.exhibits.push(Exhibit::new("placement", headline, json!(rows).to_string()));
    Ok(judgement)
}

/// What one call of a host operator is predicted to take.
fn host_us(profile: &Profile, value: &str) -> f64 {
    let kernels = profile.steps.iter().flat_map(|step| &step.kernels);
    kernels.filter(|kernel| !kernel.on_array && kernel.makes == value).map(|k| k.work_us).sum()
}
