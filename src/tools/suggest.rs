//! `suggest`: which moves are worth making, best first, by what the cost model predicts.

use serde::Deserialize;
use serde_json::{Value, json};

use super::effects::effects;
use super::hand::{At, Failure, Hand};
use super::programs::{context, path, read, stage_schema};
use super::tool::{BadCall, Ran};
use crate::base::plural;
use crate::model::Stage;
use crate::npu::{Array, Program, Suggestion, moves, suggest};
use crate::policy::Footprint;
use crate::session::ToolOutcome;

pub(super) struct Suggest;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    stage: Stage,
    /// None: all of them.
    #[serde(default)]
    moves: Vec<String>,
    #[serde(default = "eight")]
    limit: usize,
}

fn eight() -> usize {
    8
}

impl Hand for Suggest {
    type Args = Args;
    const NAME: &'static str = "suggest";
    const DOC: &'static str = "The legal moves of these kinds that are predicted to pay most on \
        the program of a stage, best first, each with its site and its gain.";
    const REQUIRED: &'static [&'static str] = &["stage"];

    fn properties() -> Value {
        json!({
            "stage": stage_schema(),
            "moves": { "type": "array", "items": { "type": "string" } },
            "limit": { "type": "integer", "minimum": 1 },
        })
    }

    fn footprint(args: &Args) -> Result<Footprint, BadCall> {
        let reads = vec![path(args.stage)];
        Ok(Footprint { reads, simulates: true, ..Footprint::default() })
    }

    fn work(args: Args, at: &At<'_>) -> Result<Ran, Failure> {
        for name in &args.moves {
            if moves::find(name).is_none() {
                return Err(moves::unknown(name).into());
            }
        }
        let text = read(at.kit, args.stage)?;
        let program = text.program();
        let names: Vec<&str> = args.moves.iter().map(String::as_str).collect();
        let found = suggest(program, &at.kit.array(), context(program), &names, args.limit);
        let legal: Vec<_> = found.into_iter().filter(|suggestion| suggestion.legal).collect();
        let rows: Vec<Value> = legal.iter().map(|one| row(one, program, &at.kit.array())).collect();
        let told = legal
            .iter()
            .take(5)
            .map(|one| format!("\n{:+.3} ms {} ({})", -one.gain_us / 1e3, one.words, one.name));
        let head = plural(legal.len(), "suggestion");
        let text = format!("{head}{}", told.collect::<String>());
        Ok(ToolOutcome::done(text, json!({ "suggestions": rows })).into())
    }
}

/// A suggestion with the parts that its effect is made of.
fn row(suggestion: &Suggestion, program: &Program, array: &Array) -> Value {
    let after = moves::find(suggestion.name)
        .and_then(|made| made.apply(program, &suggestion.site, array).ok());
    let mut row = json!(suggestion);
    row["does"] = json!(after.map_or_else(Vec::new, |after| effects(program, &after)));
    row
}
