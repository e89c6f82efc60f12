//! When a skill applies: patterns over what checks, calls and gates have said.

use regex::Regex;
use serde_json::Value;

use crate::base::GateId;
use crate::session::{CallState, Judged, State, ToolOutcome, Verdict};

/// One pattern, written `source: regex`.
#[derive(Clone, Debug)]
pub struct Trigger {
    pub source: Source,
    pub pattern: Regex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The text of a finding, or of a failed call: compilers and runtimes speak here.
    Finding,
    /// The id of a gate that failed.
    Gate,
    /// The name of a metric that missed its threshold.
    Metric,
}

impl Trigger {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (source, pattern) = text.split_once(':').unwrap_or((text, ""));
        let source = match source.trim() {
            "finding" => Source::Finding,
            "gate" => Source::Gate,
            "metric" => Source::Metric,
            other => return Err(format!("`{other}` is none of `finding:`, `gate:`, `metric:`")),
        };
        let pattern = pattern.trim();
        if pattern.is_empty() {
            return Err(format!("the trigger `{text}` has no pattern"));
        }
        let whole = match source {
            Source::Finding => pattern.to_owned(),
            Source::Gate | Source::Metric => format!("^(?:{pattern})$"),
        };
        let pattern = Regex::new(&whole).map_err(|why| format!("`{pattern}`: {why}"))?;
        Ok(Self { source, pattern })
    }

    /// Why it fires, if it does.
    pub fn fires(&self, signal: &Signal) -> Option<String> {
        let told = |what: &str| match &signal.gate {
            Some(gate) if self.source != Source::Gate => format!("gate `{gate}` failed: {what}"),
            _ => what.to_owned(),
        };
        match self.source {
            Source::Gate => {
                let gate = signal.gate.as_ref()?;
                self.pattern.is_match(gate.as_str()).then(|| format!("gate `{gate}` failed"))
            }
            Source::Metric => {
                let missed = signal.metrics.iter().find(|name| self.pattern.is_match(name))?;
                Some(told(&format!("metric `{missed}` missed its threshold")))
            }
            Source::Finding => {
                let found = signal.texts.iter().find_map(|text| self.pattern.find(text))?;
                Some(told(&format!("`{}` was said", found.as_str().trim())))
            }
        }
    }
}

/// How much a source knows: less is more.
pub(super) fn rank(source: Source) -> u8 {
    match source {
        Source::Finding => 0,
        Source::Metric => 1,
        Source::Gate => 2,
    }
}

/// What went wrong just now, as far as triggers look at it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signal {
    pub gate: Option<GateId>,
    /// The hard metrics that missed.
    pub metrics: Vec<String>,
    pub texts: Vec<String>,
}

impl Signal {
    /// A failed judgement; none for one that passed.
    pub fn of_judged(judged: &Judged) -> Option<Self> {
        if judged.verdict == Verdict::Pass {
            return None;
        }
        let missed = judged.metrics.iter().filter(|metric| metric.hard && !metric.holds());
        Some(Self {
            gate: Some(judged.gate.clone()),
            metrics: missed.map(|metric| metric.name.clone()).collect(),
            texts: vec![judged.headline.clone()],
        })
    }

    /// What a call came to: a failed gate, a failed call, or findings of severity error.
    pub fn of_outcome(outcome: &ToolOutcome) -> Option<Self> {
        match outcome {
            ToolOutcome::Failed { text, value } => {
                let mut texts = vec![text.clone()];
                texts.extend(errors(value));
                Some(Self { texts, ..Self::default() })
            }
            ToolOutcome::Done { value, .. } => Self::of_gate(value).or_else(|| {
                let texts: Vec<_> = errors(value).collect();
                (!texts.is_empty()).then(|| Self { texts, ..Self::default() })
            }),
            ToolOutcome::Denied { .. } | ToolOutcome::Stopped => None,
        }
    }

    /// The value of a judged gate, as `Judged::outcome` writes it.
    fn of_gate(value: &Value) -> Option<Self> {
        let gate = value.get("gate")?.as_str()?;
        if value.get("verdict").and_then(Value::as_str) == Some("pass") {
            return None;
        }
        let metrics = value.get("metrics").and_then(Value::as_array).into_iter().flatten();
        let is_missed = |metric: &&Value| {
            let margin = metric.get("margin").and_then(Value::as_f64);
            metric.get("hard").and_then(Value::as_bool) == Some(true)
                && !margin.is_some_and(|margin| margin >= 0.0)
        };
        let name = |metric: &Value| Some(metric.get("name")?.as_str()?.to_owned());
        let headline = value.get("headline").and_then(Value::as_str).unwrap_or_default();
        Some(Self {
            gate: Some(gate.into()),
            metrics: metrics.filter(is_missed).filter_map(name).collect(),
            texts: vec![headline.to_owned()],
        })
    }

    /// The last thing that went wrong, if it is the last thing that happened.
    pub fn of_state(state: &State) -> Option<Self> {
        let ended = state.calls.iter().rev().find_map(|record| match &record.state {
            CallState::Ended(outcome) => Some((record.seq, outcome)),
            _ => None,
        });
        let judged = state.judgements.last();
        match (ended, judged) {
            (Some((called, outcome)), Some((seq, _))) if called > *seq => Self::of_outcome(outcome),
            (_, Some((_, judged))) => Self::of_judged(judged),
            (Some((_, outcome)), None) => Self::of_outcome(outcome),
            (None, None) => None,
        }
    }
}

/// The messages of findings that are errors.
fn errors(value: &Value) -> impl Iterator<Item = String> {
    let findings = value.get("findings").and_then(Value::as_array).into_iter().flatten();
    let is_error = |finding: &&Value| finding["severity"].as_str() == Some("error");
    findings.filter(is_error).map(|finding| {
        let part = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        format!("{} {} {}", part("rule"), part("message"), part("place")).trim().to_owned()
    })
}

/// A skill that applies now, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    pub skill: String,
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_trigger_fires_on_its_own_source() {
        let failed = |text: &str| Signal::of_outcome(&ToolOutcome::failed(text)).unwrap();
        let gate = Signal::of_outcome(&ToolOutcome::done(
            "",
            json!({"gate": "layers", "verdict": "fail", "headline": "layer 3 is NaN",
                   "metrics": [{"name": "non_finite", "margin": -1.0, "hard": true},
                               {"name": "step", "margin": 1.0, "hard": true}]}),
        ))
        .unwrap();
        let check = |trigger: &str, signal: &Signal, expected: Option<&str>| {
            let why = Trigger::parse(trigger).unwrap().fires(signal);
            assert_eq!(why.as_deref(), expected, "{trigger}");
        };
        check("gate: layers|logits", &gate, Some("gate `layers` failed"));
        check("gate: layer", &gate, None);
        check(
            "metric: non_finite",
            &gate,
            Some("gate `layers` failed: metric `non_finite` missed its threshold"),
        );
        check("metric: step", &gate, None);
        check("finding: (?i)nan", &gate, Some("gate `layers` failed: `NaN` was said"));
        check(
            "finding: stride must be 1",
            &failed("error: stride must be 1 here"),
            Some("`stride must be 1` was said"),
        );
        check("gate: layers", &failed("layers"), None);
    }

    #[test]
    fn findings_of_a_check_are_a_signal_only_if_they_are_errors() {
        let value = |severity: &str| json!({"findings": [{"severity": severity, "rule": "bd", "message": "out of BDs"}]});
        let signal = |value| Signal::of_outcome(&ToolOutcome::done("checked", value));
        assert_eq!(signal(value("error")).unwrap().texts, ["bd out of BDs"]);
        assert_eq!(signal(value("warning")), None);
    }
}
