//! One session on the screen: what is shown, where the keys go, and what is still to be loaded.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use super::composer::Composer;
use super::key::Key;
use super::keymap::Keymap;
use super::load::{Got, Loaded, Loader, Wanted};
use super::overlay::{Approval, Help, Pager, Palette, Words};
use super::pane::{Conversation, Document, Gates, Pane, Profiles, Steps};
use super::recording::Recording;
use super::setup::Setup;
use super::slot::Slot;
use super::theme::Theme;
use super::view::{Drafts, View};
use crate::base::{Finding, Time};
use crate::runtime::{Update, always};
use crate::session::{Author, Entry, Event, Item, State};

/// Everything of a session's screen. It does no I/O: `run` feeds it and carries out its effects.
pub struct App {
    pub(super) sight: Sight,
    pub(super) conversation: Conversation,
    pub(super) panes: Vec<Box<dyn Pane>>,
    /// The pane that is shown, or would be if there were room.
    pub(super) pane: usize,
    pub(super) focus: Focus,
    /// Where there is room for one of them: the pane, not the transcript.
    pub(super) pane_first: bool,
    pub(super) composer: Composer,
    pub(super) approval: Approval,
    pub(super) overlay: Option<Overlay>,
    pub(super) recording: Option<Recording>,
    /// Keys of a sequence that is not complete.
    pub(super) typed: Vec<Key>,
    /// When a person last wrote something.
    pub(super) wrote: Option<Time>,
    pub(super) notice: Option<Notice>,
    /// Something that is done only when it is asked for twice.
    pub(super) asked_twice: Option<(Twice, Time)>,
    /// What was drawn where: for the mouse.
    pub(super) spots: Vec<super::spot::Spotted>,
}

/// What may be looked at while something else changes.
pub(super) struct Sight {
    pub state: State,
    pub drafts: Drafts,
    pub loaded: Loaded,
    pub theme: Theme,
    pub keymap: Keymap,
    pub recorded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    Composer,
    Transcript,
    Pane,
}

pub(super) enum Overlay {
    Help(Help),
    Palette(Palette),
    Words(Words),
    Pager(Pager),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twice {
    Quit,
}

pub(super) struct Notice {
    pub words: String,
    pub slot: Slot,
    pub until: Time,
}

/// How long a notice stays.
const NOTICE_MS: u64 = 5_000;

impl Sight {
    pub(super) fn view(&self, now: Time, focused: bool) -> View<'_> {
        View {
            state: &self.state,
            drafts: &self.drafts,
            loaded: &self.loaded,
            theme: &self.theme,
            keymap: &self.keymap,
            now,
            focused,
            recorded: self.recorded,
        }
    }
}

impl App {
    /// A live session, as it stands.
    pub fn live(state: State, setup: &Setup) -> Self {
        Self::new(state, None, setup)
    }

    /// A recorded one, at its end.
    pub fn recorded(folder: PathBuf, entries: Vec<Arc<Entry>>, setup: &Setup) -> Self {
        let (recording, state) = Recording::new(folder, entries);
        Self::new(state, Some(recording), setup)
    }

    /// The same recording, with what was found wrong with its log.
    pub fn with_flaws(mut self, findings: &[Finding]) -> Self {
        if let Some(recording) = &mut self.recording {
            recording.flaw = findings.first().map(|finding| finding.message.clone());
        }
        self
    }

    fn new(state: State, recording: Option<Recording>, setup: &Setup) -> Self {
        let mut composer = Composer::default();
        for (_, item) in &state.transcript.items {
            if let Item::User(words) = item {
                composer.remember(words);
            }
        }
        let focus = if recording.is_some() { Focus::Transcript } else { Focus::Composer };
        let mut app = Self {
            sight: Sight {
                state,
                drafts: Drafts::default(),
                loaded: Loaded::default(),
                theme: setup.theme.clone(),
                keymap: setup.keymap.clone(),
                recorded: recording.is_some(),
            },
            conversation: Conversation::new(),
            panes: vec![
                Box::new(Document::new("Plan", "plan.md")),
                Box::new(Document::new("Issues", "issues.md")),
                Box::new(Steps::new()),
                Box::new(Profiles::new()),
                Box::new(Gates::new()),
            ],
            pane: 0,
            focus,
            pane_first: false,
            composer,
            approval: Approval::default(),
            overlay: None,
            recording,
            typed: Vec::new(),
            wrote: None,
            notice: None,
            asked_twice: None,
            spots: Vec::new(),
        };
        app.approval.sync(&app.sight.state);
        if let Some(finding) = setup.findings.first() {
            let now = setup.clock.now();
            app.say(format!("{}: {}", finding.place, finding.message), Slot::Warn, now);
        }
        app
    }

    pub fn state(&self) -> &State {
        &self.sight.state
    }

    /// Takes in what the session tells. Facts are folded here exactly as they were there.
    pub fn take(&mut self, update: &Update, now: Time) {
        if let Update::Fact(entry) = update {
            self.fact(entry, now);
        }
        self.sight.drafts.take(update);
    }

    fn fact(&mut self, entry: &Entry, now: Time) {
        if entry.seq < self.sight.state.facts {
            return;
        }
        self.sight.state.apply(entry);
        match &entry.event {
            Event::AgentSaid { .. } | Event::Prompted { .. } | Event::TurnEnded => {
                self.sight.drafts.saying.clear();
            }
            Event::Returned { call, .. } => {
                self.sight.drafts.end_call(call);
                self.sight.loaded.forget_proposals();
            }
            Event::DocumentSaved { path, .. } => {
                self.sight.loaded.changed(path);
                if entry.by == Author::User {
                    let words = format!("{path} was changed by you: the agent will be told");
                    self.say(words, Slot::Good, now);
                }
            }
            Event::AutonomySet { autonomy } => {
                let words = format!("{autonomy}: {}", autonomy.doc());
                self.say(words, Slot::Accent, now);
            }
            _ => (),
        }
        self.approval.sync(&self.sight.state);
    }

    /// Begins anew from a state: the feed was lost, and another one was opened.
    pub(super) fn restart(&mut self, state: State) {
        self.sight.state = state;
        self.sight.drafts = Drafts::default();
        self.approval.sync(&self.sight.state);
    }

    pub(super) fn say(&mut self, words: impl Into<String>, slot: Slot, now: Time) {
        let until = Time::from_millis(now.millis() + NOTICE_MS);
        self.notice = Some(Notice { words: words.into(), slot, until });
    }

    /// What is to be fetched now, each thing once.
    pub(super) fn wants(&mut self, now: Time) -> Vec<Wanted> {
        let view = self.sight.view(now, false);
        let mut wanted = self.panes[self.pane].wants(&view);
        if let Some((call, _)) = self.sight.state.asking().next() {
            wanted.push(Wanted::Proposal(call.clone()));
        }
        if let Some(Overlay::Pager(pager)) = &self.overlay {
            wanted.push(pager.wants());
        }
        wanted.retain(|wanted| self.sight.loaded.ask(wanted));
        wanted
    }

    /// Fetches all that is wanted now and waits for it: for pictures, where nobody waits for keys.
    pub fn load(&mut self, workspace: &FilePath, now: Time) {
        let session = self.recording.as_ref().map(|recording| recording.folder.clone());
        let loader = Loader {
            session: session.unwrap_or_else(|| workspace.to_owned()),
            workspace: Some(workspace.to_owned()),
            granting: Arc::new(always),
        };
        for wanted in self.wants(now) {
            let got = loader.fetch(&wanted);
            self.got(&wanted, got);
        }
    }

    pub(super) fn got(&mut self, wanted: &Wanted, got: Got) {
        self.sight.loaded.put(wanted, got);
    }

    /// Whether the waiting call has the keys.
    pub(super) fn is_armed(&self, now: Time) -> bool {
        let wrote = self.wrote.filter(|_| self.is_writing(now));
        self.approval.arms_at(wrote).is_some_and(|at| at <= now)
    }

    /// A person is in the middle of a message: keys are theirs.
    pub(super) fn is_writing(&self, now: Time) -> bool {
        const BREATH_MS: u64 = 2_000;
        let lately = |wrote: Time| now.millis() < wrote.millis() + BREATH_MS;
        self.focus == Focus::Composer && self.wrote.is_some_and(lately)
    }

    /// When the screen will look different though nothing happens.
    pub(super) fn changes_at(&self, now: Time) -> Option<Time> {
        let later = |ms: u64| Time::from_millis(now.millis() + ms);
        let wrote = self.wrote.filter(|_| self.is_writing(now));
        let arms = self.approval.arms_at(wrote).filter(|at| *at > now);
        let fades = self.notice.as_ref().map(|notice| notice.until);
        let ticks = self.sight.state.busy.then(|| later(1_000)).filter(|_| !self.sight.recorded);
        [arms, fades, ticks].into_iter().flatten().min()
    }

    /// Drops what has had its time.
    pub(super) fn pass(&mut self, now: Time) {
        self.notice.take_if(|notice| notice.until <= now);
    }
}
