//! `undo_move`: the last move of a stage taken back, to the byte.

use serde::Deserialize;
use serde_json::{Value, json};

use super::hand::{At, Failure, Hand};
use super::kit::Kit;
use super::programs::{hash, parse, path, stage_schema, text, timed, told, write};
use super::tool::{BadCall, Ran};
use super::undo::{Made, Stack};
use crate::model::Stage;
use crate::policy::Footprint;
use crate::session::ToolOutcome;
use crate::workspace::Patch;

pub(super) struct UndoMove;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    stage: Stage,
}

impl Hand for UndoMove {
    type Args = Args;
    const NAME: &'static str = "undo_move";
    const DOC: &'static str = "Takes the last move of a stage back: the program file is what it \
        was before it, byte by byte. What a person wrote since stays where it can.";
    const REQUIRED: &'static [&'static str] = &["stage"];

    fn properties() -> Value {
        json!({ "stage": stage_schema() })
    }

    fn footprint(args: &Args) -> Result<Footprint, BadCall> {
        let writes = vec![path(args.stage)];
        Ok(Footprint { writes, ..Footprint::default() })
    }

    fn preview(args: &Args, kit: &Kit) -> Option<Patch> {
        let stage = args.stage;
        let now = text(kit, stage).ok()?;
        let stack = Stack::open(kit, stage).ok()?;
        let made = stack.in_force(&now).next()?;
        let was = restored(made, stage, &now, kit).ok()?;
        Some(Patch::of(path(stage), now.as_bytes(), was.as_bytes()))
    }

    fn work(args: Args, at: &At<'_>) -> Result<Ran, Failure> {
        let (kit, stage) = (at.kit, args.stage);
        let now = text(kit, stage)?;
        let stack = Stack::open(kit, stage)?;
        let mut made = stack.in_force(&now);
        let Some(last) = made.next() else {
            return Err(format!("no move of {stage} is in force").into());
        };
        let left = made.count();
        let was = restored(last, stage, &now, kit)?;
        let program = parse(stage, &was)?;
        let saved = write(kit, stage, &was)?;
        let profile = timed(program.program(), kit);
        let Made { name, site, .. } = last;
        let text = format!(
            "`{name}` was taken back, {left} left; {stage} takes {:.3} ms again, predicted",
            profile.total_us() / 1e3
        );
        let mut value = told(&profile);
        value["move"] = json!(name);
        value["site"] = site.clone();
        value["left"] = json!(left);
        Ok(Ran::from(ToolOutcome::done(text, value)).with(saved))
    }
}

/// The bytes before the move; if the file was edited since, the same change undone in it.
fn restored(made: &Made, stage: Stage, now: &str, kit: &Kit) -> Result<String, Failure> {
    let before = made.before(kit, stage)?;
    if hash(now) == made.after {
        return Ok(before);
    }
    let after = made.after(kit)?;
    let back = Patch::of(path(stage), before.as_bytes(), &after).invert();
    Ok(String::from_utf8(back.apply(now.as_bytes())?)?)
}
