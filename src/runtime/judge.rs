//! The evaluator's process, started and listened to: verdicts come from there and nowhere else.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::base::{FileError, GateId, Progress, Stop, crash, file};
use crate::pipeline::evaluate::{Line, not_run, read};
use crate::pipeline::progress::Standing;
use crate::pipeline::{Answer, GateRequest};
use crate::session::{Artifacts, Judged, Phase};
use crate::workspace::{Command, End, PRIVATE, Sandbox, Stream};

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

    /// Reads everything, as nothing that a mind wrote is run; writes what it may use again and
    /// its temporary folder; hears no network and no secret of the environment.
    async fn ask(&self, request: &GateRequest, progress: &Progress) -> Result<Answer, Unanswered> {
        let refused = |error: FileError| Unanswered::Refused(error.to_string());
        let scratch = tempfile::tempdir().map_err(FileError::at("create", &self.workspace));
        let scratch = scratch.map_err(refused)?;
        let cache = self.workspace.join(PRIVATE).join("cache");
        file::create_folder(&cache).map_err(refused)?;
        let sandbox = Sandbox::new().read("/").write(&cache).write(scratch.path());
        let words = [self.exe.display().to_string(), "judge".into(), "--worker".into()];
        let mut command = Command::new(words, &self.workspace)
            .input(serde_json::to_vec(request).unwrap_or_default())
            .variable("TMPDIR", scratch.path().display().to_string())
            .sandbox(sandbox)
            .time(LONGEST)
            .output(MOST_COMPLAINT);
        for name in HANDED_ON {
            if let Ok(value) = std::env::var(name) {
                command = command.variable(name, value);
            }
        }
        let mut heard = Heard::default();
        let finished = command
            .run(&Stop::never(), |stream, bytes| {
                crash::reach("judge");
                if stream == Stream::Out {
                    heard.take(bytes, progress);
                }
            })
            .await
            .map_err(refused)?;
        let is_success = finished.is_success();
        match (heard.refused, heard.died, heard.answer) {
            (Some(why), ..) => Err(Unanswered::Refused(why)),
            (None, Some(why), _) => Err(Unanswered::Died(why)),
            (None, None, Some(answer)) if heard.ended && is_success => Ok(answer),
            _ => {
                let complaint = String::from_utf8_lossy(&finished.err).trim().to_owned();
                let how = match finished.end {
                    End::TimedOut => format!("took longer than {} minutes", LONGEST.as_secs() / 60),
                    end => end.to_string(),
                };
                let why = format!("the evaluator {how}\n{complaint}");
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

/// The longest that one judgement may take.
const LONGEST: Duration = Duration::from_hours(2);

const MOST_COMPLAINT: usize = 4096;

/// Where models and caches are, and how many threads to take: no secret is in these.
const HANDED_ON: [&str; 4] =
    ["XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "RAYON_NUM_THREADS"];

/// What the child has said so far. The answer is the last judgement among its lines.
#[derive(Default)]
struct Heard {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    answer: Option<Answer>,
    refused: Option<String>,
    died: Option<String>,
    ended: bool,
}

impl Heard {
    fn take(&mut self, bytes: &[u8], progress: &Progress) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if let Some(line) = self.line.strip_suffix(b"\n") {
                match read(line) {
                    Ok(Line::Said(words)) => progress.say(&words),
                    Ok(Line::Judged(judged)) => self.answer = Some(*judged),
                    Ok(Line::Refused(why)) => self.refused = Some(why),
                    Ok(Line::Ended) => self.ended = true,
                    Err(error) => self.died = Some(error.to_string()),
                }
                self.line.clear();
            }
        }
    }
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
