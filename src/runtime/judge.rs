//! The evaluator's process, started and listened to: verdicts come from there and nowhere else.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdout, Command};
use tokio::sync::Semaphore;

use crate::base::{GateId, Progress, crash};
use crate::pipeline::evaluate::{Line, not_run, read};
use crate::pipeline::progress::Standing;
use crate::pipeline::{Answer, GateRequest};
use crate::session::{Artifacts, Judged, Phase};

#[derive(Clone)]
pub(super) struct Judge {
    /// The program itself, handed in: tests give their own.
    exe: PathBuf,
    workspace: PathBuf,
    artifacts: Artifacts,
    /// One at a time: a judge holds a whole model.
    turn: Arc<Semaphore>,
}

impl Judge {
    pub(super) fn new(exe: PathBuf, workspace: &Path, artifacts: Artifacts) -> Self {
        let turn = Arc::new(Semaphore::new(1));
        Self { exe, workspace: workspace.to_owned(), artifacts, turn }
    }

    /// Has one gate judged, and keeps receipt, report and evidence before anyone hears of it.
    /// An error means that there is no verdict, not even a failed one. Dropping kills the child.
    pub(super) async fn judge(
        &self,
        gate: GateId,
        phase: Phase,
        seed: u64,
        progress: &Progress,
    ) -> Result<Judged, String> {
        let _turn = self.turn.acquire().await.map_err(|error| error.to_string())?;
        let request = GateRequest::one(&self.workspace, gate.clone(), phase, seed);
        let asked = self.ask(&request, progress).await;
        let (artifacts, workspace) = (self.artifacts.clone(), self.workspace.clone());
        let keep = move || {
            let answer = match asked {
                Ok(answer) => answer,
                Err(Unanswered::Refused(why)) => return Err(why),
                Err(Unanswered::Died(why)) => {
                    let standing = Standing::of(&workspace)?;
                    not_run(&gate, phase, standing.snapshot(), &why)
                }
            };
            keep(answer, &artifacts, &workspace)
        };
        tokio::task::spawn_blocking(keep).await.map_err(|error| error.to_string())?
    }

    async fn ask(&self, request: &GateRequest, progress: &Progress) -> Result<Answer, Unanswered> {
        let died = |error: io::Error| Unanswered::Died(error.to_string());
        let mut child = Command::new(&self.exe)
            .args(["judge", "--worker"])
            .env_remove("PILOTFISH_CRASH")
            .current_dir(&self.workspace)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| died(error).of(&self.exe))?;
        let request = serde_json::to_vec(request).unwrap_or_default();
        let mut stdin = child.stdin.take();
        if let Some(stdin) = &mut stdin {
            let _ = stdin.write_all(&request).await; // If it is gone its exit tells why.
        }
        drop(stdin);
        crash::reach("judge");
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut complaint = String::new();
        let (answer, _) = tokio::join!(listen(stdout, progress), async {
            let Some(stderr) = stderr else { return };
            let _ = stderr.take(MOST_COMPLAINT).read_to_string(&mut complaint).await;
        });
        let status = child.wait().await.map_err(died)?;
        match answer {
            Ok(Some(answer)) if status.success() => Ok(answer),
            Err(unanswered @ Unanswered::Refused(_)) => Err(unanswered),
            Err(Unanswered::Died(why)) => Err(Unanswered::Died(why)),
            Ok(_) => {
                let why = format!("the evaluator ended with {status}\n{}", complaint.trim());
                Err(Unanswered::Died(why.trim().to_owned()))
            }
        }
    }
}

/// Why there is no answer.
enum Unanswered {
    /// It could not begin, and says so.
    Refused(String),
    /// It ended without an answer: the gate did not run, so it did not pass.
    Died(String),
}

impl Unanswered {
    fn of(self, exe: &Path) -> Self {
        match self {
            Self::Died(why) => Self::Refused(format!("cannot start `{}`: {why}", exe.display())),
            refused @ Self::Refused(_) => refused,
        }
    }
}

const MOST_COMPLAINT: u64 = 4096;

/// Reads the child's lines to the end; the answer is the last judgement among them.
async fn listen(
    stdout: Option<ChildStdout>,
    progress: &Progress,
) -> Result<Option<Answer>, Unanswered> {
    let Some(stdout) = stdout else { return Ok(None) };
    let mut lines = BufReader::new(stdout).split(b'\n');
    let (mut answer, mut ended) = (None, false);
    while let Ok(Some(line)) = lines.next_segment().await {
        match read(&line).map_err(|error| Unanswered::Died(error.to_string()))? {
            Line::Said(words) => progress.say(&words),
            Line::Judged(judged) => answer = Some(*judged),
            Line::Refused(why) => return Err(Unanswered::Refused(why)),
            Line::Ended => ended = true,
        }
    }
    Ok(answer.filter(|_| ended))
}

/// Evidence first, then report and receipt: a receipt never names what is not there.
fn keep(answer: Answer, artifacts: &Artifacts, workspace: &Path) -> Result<Judged, String> {
    for exhibit in &answer.exhibits {
        let (kind, headline) = (exhibit.kind.clone(), exhibit.headline.clone());
        let kept = artifacts.put(kind, headline, exhibit.content.as_bytes());
        kept.map_err(|error| error.to_string())?;
    }
    answer.keep(workspace).map_err(|error| format!("the receipt cannot be kept: {error}"))
}
