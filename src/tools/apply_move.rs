//! `apply_move`: one typed change of a program, refused if the array would refuse what comes of it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::hand::{At, Failure, Hand};
use super::kit::Kit;
use super::programs::{answered, doubt, hash, parse, path, read, stage_schema, timed, told, write};
use super::tool::{BadCall, Ran};
use super::undo::{Made, Stack};
use crate::base::Finding;
use crate::model::Stage;
use crate::npu::moves::{self, Site};
use crate::npu::{ProgramText, check};
use crate::policy::Footprint;
use crate::session::{Event, ToolOutcome};
use crate::workspace::Patch;

pub(super) struct ApplyMove;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    stage: Stage,
    #[serde(rename = "move")]
    name: String,
    site: Value,
}

impl Hand for ApplyMove {
    type Args = Args;
    const NAME: &'static str = "apply_move";
    const DOC: &'static str = "Makes one move at one site of the program of a stage. Take both \
        from `suggest`. `undo_move` takes it back, byte by byte.";
    const REQUIRED: &'static [&'static str] = &["stage", "move", "site"];

    fn properties() -> Value {
        json!({
            "stage": stage_schema(),
            "move": { "type": "string" },
            "site": { "description": "The site of a suggestion, as it is." },
        })
    }

    fn footprint(args: &Args) -> Result<Footprint, BadCall> {
        let writes = vec![path(args.stage)];
        Ok(Footprint { writes, ..Footprint::default() })
    }

    fn preview(args: &Args, kit: &Kit) -> Option<Patch> {
        let before = read(kit, args.stage).ok()?;
        let after = moved(args, &before, kit).ok()?;
        Some(Patch::of(path(args.stage), before.text().as_bytes(), after.text().as_bytes()))
    }

    fn work(args: Args, at: &At<'_>) -> Result<Ran, Failure> {
        let (kit, stage) = (at.kit, args.stage);
        let before = read(kit, stage)?;
        let proposed = moved(&args, &before, kit)?;
        let text = answered(at, &path(stage), before.text(), proposed.text())?;
        let after = if text == proposed.text() { proposed } else { parse(stage, &text)? };
        refuse(&args, &before, &after, kit)?;

        // 1. Keep what is there, 2. note the move, 3. make it: each finds the one before it done.
        let snapshot = kit.freeze()?.hash().clone();
        let mut stack = Stack::open(kit, stage)?;
        let made = Made {
            name: args.name.clone(),
            site: args.site.clone(),
            snapshot: snapshot.clone(),
            before: hash(before.text()),
            after: hash(after.text()),
            onto: None,
        };
        stack.push(kit, made, before.text(), after.text())?;
        let saved = write(kit, stage, after.text())?;

        let (was, is) = (timed(before.program(), kit), timed(after.program(), kit));
        let patch = Patch::of(path(stage), before.text().as_bytes(), after.text().as_bytes());
        let diff = kit.artifacts.put("diff", patch.headline(), &patch.to_bytes())?;
        let words = Site::parse(&args.site).ok().zip(moves::find(&args.name));
        let words =
            words.map_or_else(String::new, |(site, made)| made.words(before.program(), &site));
        let (from, to) = (was.total_us(), is.total_us());
        let text = format!("{words}: {:.3} → {:.3} ms, predicted", from / 1e3, to / 1e3);
        let mut value = told(&is);
        value["before_us"] = json!(from);
        value["gain_us"] = json!(from - to);
        value["doubt_us"] = json!(doubt(before.program(), after.program(), kit));
        value["diff"] = json!(diff.hash);
        let outcome = ToolOutcome::Done { text, value, artifacts: vec![diff] };
        let why = format!("before {words}");
        Ok(Ran::from(outcome).with(Event::Snapshotted { snapshot, why }).with(saved))
    }
}

/// The program file after the move.
fn moved(args: &Args, before: &ProgramText, kit: &Kit) -> Result<ProgramText, Failure> {
    let made = moves::find(&args.name).ok_or_else(|| moves::unknown(&args.name))?;
    let site = Site::parse(&args.site)?;
    match made.apply(before.program(), &site, &kit.array()) {
        Ok(program) => Ok(before.with(&program)),
        Err(finding) => Err(Failure::of_findings("the move cannot be made", &[finding])),
    }
}

/// Errors that the program did not have before.
fn refuse(
    args: &Args,
    before: &ProgramText,
    after: &ProgramText,
    kit: &Kit,
) -> Result<(), Failure> {
    let known = check(before.program(), &kit.array());
    let is_new = |finding: &Finding| finding.is_error() && !known.contains(finding);
    let fresh: Vec<_> = check(after.program(), &kit.array()).into_iter().filter(is_new).collect();
    if fresh.is_empty() {
        return Ok(());
    }
    let what = format!("the array refuses what `{}` makes of it", args.name);
    Err(Failure::of_findings(&what, &fresh))
}
