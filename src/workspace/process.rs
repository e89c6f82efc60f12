//! A child with limits: its time, its output, what it may touch; ended with all its children.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command as Spawn};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, interval_at, sleep_until};

use super::group::{self, Group};
use super::sandbox::{Confined, Sandbox};
use crate::base::{FileError, Stop};

/// Names of the environment that say where programs and temporary files are, in which language.
/// Nothing else is handed on: an environment holds tokens and keys.
const KEPT: [&str; 8] = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "HOME", "TMPDIR", "USER"];

/// How often a wish to stop is looked for.
const LOOK: Duration = Duration::from_millis(25);

/// How long pipes may stay open after the child has ended: a child of its own may hold them.
const DRAIN: Duration = Duration::from_millis(500);

/// What to run, where, with what, and for how long.
#[derive(Clone, Debug)]
pub struct Command {
    words: Vec<String>,
    folder: PathBuf,
    input: Vec<u8>,
    environment: Vec<(String, String)>,
    sandbox: Option<Sandbox>,
    time: Duration,
    output: usize,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    TimedOut,
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Finished {
    pub end: End,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    /// How many bytes of output were beyond the limit, and left out.
    pub left_out: usize,
    /// What held it.
    pub confined: Confined,
}

impl Finished {
    pub fn is_success(&self) -> bool {
        self.end == End::Exited(0)
    }
}

impl Command {
    /// The program and its arguments, word by word: no shell reads them.
    pub fn new<W: Into<String>>(
        words: impl IntoIterator<Item = W>,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self {
            words: words.into_iter().map(Into::into).collect(),
            folder: folder.into(),
            input: Vec::new(),
            environment: Vec::new(),
            sandbox: None,
            time: Duration::from_mins(10),
            output: 1 << 20,
        }
    }

    /// What it reads on its standard input.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    pub fn time(mut self, most: Duration) -> Self {
        self.time = most;
        self
    }

    /// The most that is kept of its output, in bytes, for each of the two streams.
    pub fn output(mut self, most: usize) -> Self {
        self.output = most;
        self
    }

    /// Runs it to its end, handing on its output as it comes. If this future is dropped, the
    /// child and all its children are ended.
    pub async fn run(
        self,
        stop: &Stop,
        mut heard: impl FnMut(Stream, &[u8]) + Send,
    ) -> Result<Finished, FileError> {
        let began = Instant::now();
        let program = PathBuf::from(self.words.first().map_or("", String::as_str));
        // 1. Start it, and hand it its input, which it need not read.
        let started = self.start().await.map_err(FileError::at("run", &program))?;
        let Started { mut child, confined, group } = started;
        let (mut out, mut err) = (Pipe::of(child.stdout.take()), Pipe::of(child.stderr.take()));
        let feed = child.stdin.take().map(|stdin| tokio::spawn(feed(stdin, self.input)));
        // 2. Read until both streams and the process have ended, or one of the limits is met.
        let (mut kept_out, mut kept_err) = (Kept::most(self.output), Kept::most(self.output));
        let mut look = interval_at(began + LOOK, LOOK);
        let mut deadline = began + self.time;
        let mut end = None;
        while end.is_none() || out.is_open() || err.is_open() {
            tokio::select! {
                bytes = out.read(), if out.is_open() => {
                    heard(Stream::Out, bytes);
                    kept_out.take(bytes);
                }
                bytes = err.read(), if err.is_open() => {
                    heard(Stream::Err, bytes);
                    kept_err.take(bytes);
                }
                status = child.wait(), if end.is_none() => {
                    end = Some(End::of(status.map_err(FileError::at("wait for", &program))?));
                    deadline = Instant::now() + DRAIN;
                }
                () = sleep_until(deadline) => {
                    end = end.or(Some(End::TimedOut));
                    break;
                }
                _ = look.tick() => {
                    if stop.is_wanted() {
                        end = end.or(Some(End::Stopped));
                        break;
                    }
                }
            }
        }
        // 3. End what is left of its group.
        drop(group);
        if let Some(feed) = feed {
            feed.abort();
        }
        let _ = child.wait().await;
        let left_out = kept_out.left_out + kept_err.left_out;
        let (out, err) = (kept_out.bytes, kept_err.bytes);
        Ok(Finished { end: end.unwrap_or(End::Stopped), out, err, left_out, confined })
    }

    /// A thread of its own starts the child: what holds the thread holds the child, and the
    /// system ends the child with the thread, so also when this process is killed.
    async fn start(&self) -> io::Result<Started> {
        let mut spawn = self.to_spawn();
        let (sandbox, runtime) = (self.sandbox.clone(), Handle::current());
        let (sender, started) = oneshot::channel();
        let (guard, released) = mpsc::channel::<()>();
        thread::Builder::new().name("child".into()).spawn(move || {
            let confined = match sandbox {
                Some(sandbox) => sandbox.enter().map_err(io::Error::other),
                None => Ok(Confined::lacking("no sandbox was asked for")),
            };
            let child = confined.and_then(|confined| {
                let _runtime = runtime.enter();
                Ok((spawn.spawn()?, confined))
            });
            if sender.send(child).is_ok() {
                let _ = released.recv();
            }
        })?;
        let (child, confined) = started.await.map_err(io::Error::other)??;
        let group = Group::of(child.id(), guard);
        Ok(Started { child, confined, group })
    }

    fn to_spawn(&self) -> Spawn {
        let mut words = self.words.iter();
        let mut spawn = std::process::Command::new(words.next().map_or("", String::as_str));
        spawn.args(words).current_dir(&self.folder).env_clear();
        spawn.envs(KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        spawn.envs(self.environment.iter().map(|(name, value)| (name, value)));
        spawn.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        group::lead(&mut spawn);
        let mut spawn = Spawn::from(spawn);
        spawn.kill_on_drop(true);
        spawn
    }
}

struct Started {
    child: Child,
    confined: Confined,
    group: Group,
}

impl End {
    fn of(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exited(code),
            (None, signal) => Self::Signalled(signal.unwrap_or_default()),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "ended with code {code}"),
            Self::Signalled(signal) => write!(f, "ended by signal {signal}"),
            Self::TimedOut => f.write_str("took longer than it may, and was ended"),
            Self::Stopped => f.write_str("was stopped"),
        }
    }
}

async fn feed(mut stdin: ChildStdin, input: Vec<u8>) {
    let _ = stdin.write_all(&input).await;
}

/// One end of a pipe, until nothing more comes.
struct Pipe<R> {
    from: Option<R>,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    fn of(from: Option<R>) -> Self {
        Self { from, buffer: vec![0; 16 * 1024] }
    }

    fn is_open(&self) -> bool {
        self.from.is_some()
    }

    /// What came; nothing at its end.
    async fn read(&mut self) -> &[u8] {
        let Some(from) = &mut self.from else { return &[] };
        let length = from.read(&mut self.buffer).await.unwrap_or(0);
        if length == 0 {
            self.from = None;
        }
        &self.buffer[..length]
    }
}

/// The beginning of what came, up to a limit.
struct Kept {
    bytes: Vec<u8>,
    most: usize,
    left_out: usize,
}

impl Kept {
    fn most(most: usize) -> Self {
        Self { bytes: Vec::new(), most, left_out: 0 }
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = bytes.len().min(self.most - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..room]);
        self.left_out += bytes.len() - room;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    fn sh(script: &str) -> Command {
        Command::new(["sh", "-c", script], "/").time(Duration::from_secs(20))
    }

    fn run(command: Command) -> Finished {
        block_on(command.run(&Stop::never(), |_, _| ())).unwrap()
    }

    #[test]
    fn what_a_child_says_and_how_it_ends_comes_back() {
        let mut heard = Vec::new();
        let command =
            sh("cat; echo $WORD $PILOTFISH_SHARED >&2; exit 3").input("in").variable("WORD", "w");
        let finished = block_on(command.run(&Stop::never(), |stream, bytes| {
            heard.push((stream, bytes.len()));
        }));
        let finished = finished.unwrap();
        assert_eq!((&finished.out[..], &finished.err[..]), (&b"in"[..], &b"w\n"[..]));
        assert_eq!((finished.end, finished.left_out), (End::Exited(3), 0));
        assert!(heard.contains(&(Stream::Out, 2)) && heard.contains(&(Stream::Err, 2)));
        assert_eq!(run(sh("kill -TERM $$")).end, End::Signalled(15));
        let told = block_on(Command::new(["no-such-program"], "/").run(&Stop::never(), |_, _| ()));
        assert!(told.unwrap_err().to_string().contains("cannot run `no-such-program`"));
    }

    #[test]
    fn time_and_output_have_limits() {
        let began = Instant::now();
        let finished = run(sh("echo a; sleep 60").time(Duration::from_millis(200)));
        assert_eq!((finished.end, &finished.out[..]), (End::TimedOut, &b"a\n"[..]));
        assert!(began.elapsed() < Duration::from_secs(10));
        let finished = run(sh("yes | head -c 100000").output(1000));
        assert_eq!((finished.out.len(), finished.left_out), (1000, 99_000));
        let (guard, stop) = Stop::guarded();
        let mut guard = Some(guard);
        let stopped = sh("echo a; sleep 60").run(&stop, |_, _| drop(guard.take()));
        assert_eq!(block_on(stopped).unwrap().end, End::Stopped);
    }

    #[test]
    fn a_grandchild_that_holds_a_pipe_neither_blocks_nor_survives() {
        let finished = run(sh("sleep 60 & echo $!"));
        assert_eq!(finished.end, End::Exited(0));
        let pid: u32 = String::from_utf8(finished.out).unwrap().trim().parse().unwrap();
        // Soon it is gone, or a zombie that waits for whoever adopted it.
        let began = Instant::now();
        let is_alive = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !stat.is_empty() && !stat.contains(") Z") && !stat.contains(") X")
        };
        while is_alive() {
            assert!(began.elapsed() < Duration::from_secs(20), "it outlives its group");
            thread::yield_now();
        }
    }

    #[test]
    fn a_sandboxed_child_keeps_to_its_folders() {
        let inside = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let secret = outside.path().join("secret").display().to_string();
        let script = format!("echo ok > new; cat new; cat {secret}; echo x > {secret}; true");
        let command = Command::new(["sh", "-c", &script], inside.path());
        let finished = run(command.sandbox(Sandbox::new().write(inside.path())));
        assert_eq!(finished.end, End::Exited(0));
        assert!(finished.out.starts_with(b"ok\n"));
        let is_whole = std::fs::read(outside.path().join("secret")).unwrap() == b"s";
        assert_eq!(is_whole, finished.confined.files, "{}", finished.confined);
        assert_eq!(finished.out == b"ok\n", finished.confined.files);
        assert!(finished.confined.files || finished.confined.lacks.is_some());
        // This thread, and all others of this process, are as free as before.
        std::fs::write(outside.path().join("secret"), "t").unwrap();
    }
}
