//! The evaluator's process: a request on stdin, verdicts and receipts as JSON lines on stdout.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::case::Case;
use super::evaluate::{Line, evaluate, not_run};
use super::frozen::Frozen;
use super::gate::{Gate, gate};
use super::phase::needs;
use crate::base::{GateId, Progress};
use crate::session::Phase;

/// What is to be judged. The workspace itself says which model, target and lengths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateRequest {
    pub workspace: PathBuf,
    /// All gates of the phase, if empty.
    #[serde(default)]
    pub gates: Vec<GateId>,
    /// The same gate asks more of a later phase.
    pub phase: Phase,
    #[serde(default)]
    pub seed: u64,
}

impl GateRequest {
    pub fn one(workspace: impl Into<PathBuf>, gate: GateId, phase: Phase, seed: u64) -> Self {
        Self { workspace: workspace.into(), gates: vec![gate], phase, seed }
    }
}

/// Reads one [`GateRequest`], freezes the workspace, judges, answers. What cannot be judged is
/// answered too; an error here means that the answer itself could not be written.
pub fn serve(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut text = String::new();
    input.read_to_string(&mut text)?;
    let request: GateRequest = match serde_json::from_str(&text) {
        Ok(request) => request,
        Err(error) => return say(&mut output, &Line::Refused(format!("the request: {error}"))),
    };
    let (words, said) = mpsc::channel();
    let talk = words.clone();
    let progress = Progress::to(
        move |words| {
            let _ = talk.send(Some(words.to_owned())); // Nobody listens: nothing is lost.
        },
        |_| (),
    );
    let case = match Frozen::of(&request.workspace)
        .and_then(|frozen| Case::open(frozen, request.phase, request.seed, progress))
    {
        Ok(case) => case,
        Err(why) => return say(&mut output, &Line::Refused(why)),
    };
    let all: Vec<GateId> = needs(request.phase).iter().map(|id| GateId::from(*id)).collect();
    let asked = if request.gates.is_empty() { &all } else { &request.gates };
    for id in asked {
        let began = Instant::now();
        let Some(gate) = gate(id.as_str()) else {
            say(&mut output, &Line::Refused(format!("there is no gate `{id}`")))?;
            continue;
        };
        let mut answer = judge(gate, &case, (&words, &said), &mut output)?;
        answer.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        say(&mut output, &Line::Judged(Box::new(answer)))?;
    }
    say(&mut output, &Line::Ended)
}

type Words = Option<String>;

/// Judges on a thread of its own, and passes on what is said meanwhile. A gate that breaks down
/// over what it was given has not passed.
fn judge(
    gate: &Gate,
    case: &Case,
    (words, said): (&Sender<Words>, &Receiver<Words>),
    output: &mut impl Write,
) -> io::Result<Answer> {
    thread::scope(|scope| {
        let task = scope.spawn(|| {
            let _end = End(words.clone());
            evaluate(gate, case)
        });
        while let Ok(Some(words)) = said.recv() {
            say(output, &Line::Said(words))?;
        }
        Ok(task.join().unwrap_or_else(|_| {
            let why = "the gate broke down over this deployment";
            not_run(&GateId::from(gate.id), case.phase(), case.snapshot(), why)
        }))
    })
}

/// Says that there is nothing more to say, whatever way a judgement ends.
struct End(Sender<Words>);

impl Drop for End {
    fn drop(&mut self) {
        let _ = self.0.send(None); // The listener may be gone with its output.
    }
}

fn say(output: &mut impl Write, line: &Line) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line).map_err(io::Error::other)?;
    bytes.push(b'\n');
    output.write_all(&bytes)?;
    output.flush()
}
