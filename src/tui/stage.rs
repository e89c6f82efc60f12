//! The loop of every screen: takes all that waits, draws once, and sleeps until something happens.

use std::future::{pending, poll_fn};
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crossterm::event::{Event, EventStream, KeyEventKind};
use futures::StreamExt;
use futures::future::select_all;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::effect::Effect;
use super::error::TuiError;
use super::load::{Got, Wanted};
use super::terminal::Terminal;
use crate::base::{Clock, Time};

/// What can be shown and used on a stage. It does no I/O.
pub(super) trait Scene {
    fn draw(&mut self, buffer: &mut Buffer, now: Time) -> Option<Position>;
    fn event(&mut self, event: &Event, now: Time) -> Vec<Effect>;
    fn wants(&mut self, now: Time) -> Vec<Wanted>;
    fn got(&mut self, wanted: &Wanted, got: Got);
    /// When it will look different though nothing happens.
    fn changes_at(&self, now: Time) -> Option<Time>;
}

/// Fetches what a scene wants; called where waiting for a disk is allowed.
pub(super) type Fetch = Arc<dyn Fn(&Wanted) -> Got + Send + Sync>;

/// What was fetched, behind what it was fetched for.
type Load = (Wanted, Got);

pub(super) struct Stage {
    pub terminal: Terminal,
    /// None while something else reads the keys.
    events: Option<EventStream>,
    signals: Vec<Signal>,
    clock: Arc<dyn Clock>,
    fetch: Fetch,
    loads: (mpsc::UnboundedSender<Load>, mpsc::UnboundedReceiver<Load>),
    drawn: Instant,
    /// What is shown is no longer what there is to show.
    stale: bool,
}

/// What woke the stage.
pub(super) enum Woken {
    /// Keys and the mouse asked for these.
    Asked(Vec<Effect>),
    /// The terminal or the system wants us gone.
    Gone,
    /// Only the screen changed.
    Changed,
}

/// At most so many frames a second for what was not asked for by a key.
const FRAME: Duration = Duration::from_millis(16);
/// So many events are taken before a frame is drawn: a paste without brackets is many keys.
const MOST_EVENTS: usize = 4096;

impl Stage {
    pub(super) fn open(clock: Arc<dyn Clock>, fetch: Fetch) -> Result<Self, TuiError> {
        let kinds = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt()];
        let signals = kinds.into_iter().map(signal).collect::<io::Result<_>>()?;
        let terminal = Terminal::take()?;
        Ok(Self {
            terminal,
            events: Some(EventStream::new()),
            signals,
            clock,
            fetch,
            loads: mpsc::unbounded_channel(),
            drawn: Instant::now(),
            stale: true,
        })
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Something was taken in that shows.
    pub(super) fn touch(&mut self) {
        self.stale = true;
    }

    /// Draws if there is something new to see, at most once in a frame unless `at_once`.
    pub(super) fn show(&mut self, scene: &mut dyn Scene, at_once: bool) -> io::Result<()> {
        let due = at_once || self.drawn.elapsed() >= FRAME;
        if !self.stale || !due {
            return Ok(());
        }
        let now = self.now();
        for wanted in scene.wants(now) {
            let (fetch, sender) = (Arc::clone(&self.fetch), self.loads.0.clone());
            tokio::task::spawn_blocking(move || {
                let got = fetch(&wanted);
                // Nobody waits any more when the screen is closed.
                let _ = sender.send((wanted, got));
            });
        }
        self.terminal.draw(|buffer| scene.draw(buffer, now))?;
        (self.drawn, self.stale) = (Instant::now(), false);
        Ok(())
    }

    /// Waits for a person, the system, the disk or the time; the person first.
    pub(super) async fn wait(&mut self, scene: &mut dyn Scene) -> Woken {
        let now = self.now();
        let frame = self.stale.then(|| self.drawn + FRAME);
        let change = scene.changes_at(now).map(|at| Instant::now() + at.since(now));
        let due = [frame, change].into_iter().flatten().min();
        let rest = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => pending().await,
            }
        };
        let Self { signals, events, loads, .. } = self;
        let told = select_all(signals.iter_mut().map(|signal| Box::pin(signal.recv())));
        let event = tokio::select! {
            biased;
            _ = told => return Woken::Gone,
            event = next(events) => event,
            Some((wanted, got)) = loads.1.recv() => {
                scene.got(&wanted, got);
                while let Ok((wanted, got)) = loads.1.try_recv() {
                    scene.got(&wanted, got);
                }
                self.stale = true;
                return Woken::Changed;
            }
            () = rest => {
                self.stale = true;
                return Woken::Changed;
            }
        };
        match event {
            Some(Ok(event)) => self.events(event, scene).await,
            _ => Woken::Gone,
        }
    }

    /// All that was typed and not yet read, in one go: one frame answers it.
    async fn events(&mut self, first: Event, scene: &mut dyn Scene) -> Woken {
        let mut effects = Vec::new();
        let mut event = Some(first);
        for _ in 0..MOST_EVENTS {
            let Some(one) = event else { break };
            let released = matches!(&one, Event::Key(key) if key.kind == KeyEventKind::Release);
            if !released {
                effects.extend(scene.event(&one, self.clock.now()));
            }
            // What was asked for may take the terminal away: later keys are not for this scene.
            if !effects.is_empty() {
                break;
            }
            event = match waiting(&mut self.events).await {
                Poll::Ready(Some(Ok(event))) => Some(event),
                Poll::Ready(_) => return Woken::Gone,
                Poll::Pending => None,
            };
        }
        self.stale = true;
        Woken::Asked(effects)
    }

    /// Gives the terminal to a program until that ends; whether it ended well.
    pub(super) fn lend(&mut self, words: &[String], file: &Path) -> io::Result<bool> {
        self.events = None;
        let done = self.terminal.lend(|| {
            let (program, arguments) = words.split_first()?;
            Some(Command::new(program).args(arguments).arg(file).status())
        });
        self.events = Some(EventStream::new());
        self.stale = true;
        match done? {
            Some(status) => Ok(status?.success()),
            None => Ok(false),
        }
    }

    pub(super) fn suspend(&mut self) -> io::Result<()> {
        self.events = None;
        let done = self.terminal.suspend();
        self.events = Some(EventStream::new());
        self.stale = true;
        done
    }

    pub(super) fn redraw(&mut self) -> io::Result<()> {
        self.stale = true;
        self.terminal.forget()
    }
}

async fn next(events: &mut Option<EventStream>) -> Option<io::Result<Event>> {
    match events {
        Some(events) => events.next().await,
        None => pending().await,
    }
}

/// What is there already. Asked for with the waker of this very task: the stream keeps the one of
/// the last asking that found nothing, and one that wakes nobody would leave us asleep.
async fn waiting(events: &mut Option<EventStream>) -> Poll<Option<io::Result<Event>>> {
    poll_fn(|context| {
        Poll::Ready(match events {
            Some(events) => events.poll_next_unpin(context),
            None => Poll::Pending,
        })
    })
    .await
}
