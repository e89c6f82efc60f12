//! `note`: an issue, a blocker or a lesson, in the document where a person looks for it.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::Deserialize;

use super::args::{self, schema};
use super::change::{save, saving};
use super::kit::Kit;
use super::tool::{BadCall, Ran, Tool};
use super::work::{apart, ended, failed};
use crate::base::{Stop, shorten};
use crate::policy::Footprint;
use crate::session::{Answer, Event, ToolCall, ToolOutcome, ToolSpec};
use crate::workspace::{Edit, Patch, Path};

/// Long enough for a sentence, short enough for a heading.
const TITLE: usize = 120;

pub(super) struct Note;

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Issue,
    Blocker,
    Lesson,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    kind: Kind,
    title: String,
    text: String,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Blocker => "blocker",
            Self::Lesson => "lesson",
        }
    }

    fn document(self) -> Path {
        let name = match self {
            Self::Issue | Self::Blocker => "issues.md",
            Self::Lesson => "lessons.md",
        };
        Path::new(name).expect("a plain name is a path")
    }
}

fn read(call: &ToolCall) -> Result<Args, BadCall> {
    let args: Args = args::read(call)?;
    if args.title.trim().is_empty() {
        return Err(BadCall("`note`: the title is empty".into()));
    }
    Ok(args)
}

impl Tool for Note {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "note",
            doc: "Note an issue, a lesson, or a blocker for which a person is needed.",
            schema: schema(&[
                ("kind", "issue|blocker|lesson", ""),
                ("title", "string", "one line; the same title adds to the same section"),
                ("text", "string", "symptom, what was ruled out, fix, evidence"),
            ]),
        }
    }

    fn footprint(&self, call: &ToolCall) -> Result<Footprint, BadCall> {
        let args = read(call)?;
        Ok(Footprint { writes: vec![args.kind.document()], ..Footprint::default() })
    }

    fn preview(&self, call: &ToolCall, kit: &Kit) -> Option<Patch> {
        let args = read(call).ok()?;
        saving(kit, &args.kind.document(), &edit(args))
    }

    fn run(
        self: Arc<Self>,
        call: ToolCall,
        answer: Answer,
        kit: Kit,
        _: Stop,
    ) -> BoxFuture<'static, Ran> {
        apart(move || ended(note(&call, &answer, &kit)))
    }
}

fn titled(args: &Args) -> String {
    let title = args.title.split_whitespace().collect::<Vec<_>>().join(" ");
    shorten(title.trim_start_matches('#').trim(), TITLE)
}

fn edit(args: Args) -> Edit {
    Edit::AppendTo { heading: format!("## {}", titled(&args)), text: args.text }
}

fn note(call: &ToolCall, answer: &Answer, kit: &Kit) -> Result<Ran, ToolOutcome> {
    let args = read(call).map_err(|bad| failed(bad.0))?;
    let (kind, title, edit) = (args.kind, titled(&args), edit(args));
    let ran = save(kit, &kind.document(), &edit, answer, &format!("{} noted", kind.word()))?;
    let noted = Event::Noted { kind: kind.word().into(), text: title, artifacts: Vec::new() };
    Ok(ran.with(noted))
}
