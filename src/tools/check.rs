//! `check`: what the array, its compiler, or plain sense would refuse of the programs.

use serde::Deserialize;
use serde_json::{Value, json};

use super::hand::{At, Failure, Hand};
use super::programs::{path, stage_schema};
use super::tool::{BadCall, Ran};
use crate::base::{Finding, plural};
use crate::model::Stage;
use crate::npu::{ProgramText, check};
use crate::policy::Footprint;
use crate::session::ToolOutcome;

pub(super) struct Check;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    stage: Option<Stage>,
}

impl Hand for Check {
    type Args = Args;
    const NAME: &'static str = "check";
    const DOC: &'static str = "Checks one program, or both, against the rules of the array. Each \
        finding names rule, place, numbers and a fix.";

    fn properties() -> Value {
        json!({ "stage": stage_schema() })
    }

    fn footprint(args: &Args) -> Result<Footprint, BadCall> {
        let reads = stages(args).into_iter().map(path).collect();
        Ok(Footprint { reads, simulates: true, ..Footprint::default() })
    }

    fn work(args: Args, at: &At<'_>) -> Result<Ran, Failure> {
        let mut findings = Vec::new();
        for stage in stages(&args) {
            let path = path(stage);
            let text = match at.kit.workspace.text(&path) {
                Ok(text) => text,
                Err(error) if error.is_missing() => {
                    let finding = Finding::note(path.as_str(), "there is no program yet");
                    findings.push(finding.hint("`lower` makes it"));
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let (program, found) = ProgramText::parse(path.as_str(), &text);
            findings.extend(found);
            findings.extend(program.iter().flat_map(|text| check(text.program(), &at.kit.array())));
        }
        let errors = findings.iter().filter(|finding| finding.is_error()).count();
        let head = format!("{}, {}", plural(findings.len(), "finding"), plural(errors, "error"));
        let told = findings.iter().take(8).map(|finding| format!("\n{finding}"));
        let text = format!("{head}{}", told.collect::<String>());
        let value = json!({ "findings": findings, "errors": errors });
        Ok(ToolOutcome::done(text, value).into())
    }
}

fn stages(args: &Args) -> Vec<Stage> {
    args.stage.map_or_else(|| Stage::ALL.to_vec(), |stage| vec![stage])
}
