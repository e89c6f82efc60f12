//! From a key to what it does: on this screen at once, elsewhere as effects.

use crossterm::event::{KeyEvent, MouseEvent, MouseEventKind};

use super::action::Action;
use super::app::{App, Focus, Overlay, Twice};
use super::choice::Choice;
use super::effect::Effect;
use super::key::Key;
use super::keymap::{Context, Match};
use super::overlay::{Asked, Help, Mode, Pager, Palette, Picked, Words};
use super::pane::Pane;
use super::slot::Slot;
use super::spot::Spot;
use crate::base::Time;
use crate::runtime::Request;
use crate::session::{Answer, Autonomy};

/// Who has the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    Overlay,
    Approval,
    /// A call has just come into sight: a key now was meant for what was there before.
    Nobody,
    Composer,
    Place,
}

const TWICE_MS: u64 = 3_000;
/// Rows that one notch of a wheel moves.
const NOTCH: usize = 3;

impl App {
    /// One key; returns what is to be done beyond the screen.
    pub fn press(&mut self, event: KeyEvent, now: Time) -> Vec<Effect> {
        let keys = self.keys(now);
        let contexts = self.contexts(keys);
        self.typed.push(Key::from(event));
        match self.sight.keymap.find(&contexts, &self.typed) {
            Match::Act(action) => {
                self.typed.clear();
                self.act(action, now)
            }
            Match::Pending => Vec::new(),
            Match::Nothing => {
                self.typed.clear();
                self.write(event, keys, now);
                Vec::new()
            }
        }
    }

    /// Text from the clipboard: it goes where text goes, and is never read as keys.
    pub fn paste(&mut self, text: &str, now: Time) {
        match &mut self.overlay {
            Some(Overlay::Words(words)) => words.editor.insert(text),
            Some(Overlay::Palette(palette)) => palette.editor.insert(text),
            None if self.recording.is_none() => {
                self.composer.editor.insert(text);
                self.focus = Focus::Composer;
                self.wrote = Some(now);
            }
            Some(_) | None => (),
        }
    }

    pub fn click(&mut self, event: MouseEvent, now: Time) -> Vec<Effect> {
        let at = (event.column, event.row).into();
        let spot =
            self.spots.iter().rev().find(|(area, _)| area.contains(at)).map(|(_, spot)| *spot);
        let Some(spot) = spot else { return Vec::new() };
        let step = match event.kind {
            MouseEventKind::ScrollDown => Action::Down,
            MouseEventKind::ScrollUp => Action::Up,
            MouseEventKind::Down(_) => return self.click_on(spot, now),
            _ => return Vec::new(),
        };
        for _ in 0..NOTCH {
            self.scroll(spot, step, now);
        }
        Vec::new()
    }

    fn scroll(&mut self, spot: Spot, step: Action, now: Time) {
        let view = self.sight.view(now, true);
        match spot {
            Spot::Overlay => {
                self.act_in_overlay(step, now);
            }
            Spot::Approval => {
                self.approval.act(step, &view);
            }
            Spot::Transcript => {
                self.conversation.act(step, &view);
            }
            Spot::Pane => {
                self.panes[self.pane].act(step, &view);
            }
            Spot::Composer | Spot::Tab(_) | Spot::Stop(_) => (),
        }
    }

    fn click_on(&mut self, spot: Spot, now: Time) -> Vec<Effect> {
        match spot {
            Spot::Stop(stop) if self.recording.is_none() => return vec![set(stop)],
            Spot::Tab(None) => return self.act(Action::ShowTranscript, now),
            Spot::Tab(Some(pane)) => self.show(pane),
            Spot::Transcript => self.focus = Focus::Transcript,
            Spot::Pane => self.focus = Focus::Pane,
            Spot::Composer => self.focus = Focus::Composer,
            Spot::Approval => self.approval.come_back(),
            Spot::Overlay | Spot::Stop(_) => (),
        }
        Vec::new()
    }

    fn keys(&self, now: Time) -> Keys {
        match () {
            () if self.overlay.is_some() => Keys::Overlay,
            () if self.is_armed(now) => Keys::Approval,
            () if self.approval.is_up() && self.recording.is_none() && !self.is_writing(now) => {
                Keys::Nobody
            }
            () if self.focus == Focus::Composer => Keys::Composer,
            () => Keys::Place,
        }
    }

    fn contexts(&self, keys: Keys) -> Vec<Context> {
        match keys {
            Keys::Overlay => match &self.overlay {
                Some(Overlay::Words(_)) => vec![Context::Words],
                Some(Overlay::Pager(_)) => vec![Context::Diff, Context::Pane],
                Some(Overlay::Help(_)) => vec![Context::List, Context::Pane],
                _ => vec![Context::List],
            },
            Keys::Approval => self.approval.contexts().to_vec(),
            Keys::Nobody => vec![Context::Global],
            Keys::Composer if self.composer.editor.is_blank() => {
                vec![Context::Blank, Context::Composer, Context::Global]
            }
            Keys::Composer if self.composer.is_recalling() => {
                vec![Context::Recalled, Context::Composer, Context::Global]
            }
            Keys::Composer => vec![Context::Composer, Context::Global],
            Keys::Place if self.recording.is_some() => {
                vec![Context::Replay, Context::Pane, Context::Global]
            }
            Keys::Place => vec![Context::Pane, Context::Global],
        }
    }

    fn write(&mut self, event: KeyEvent, keys: Keys, now: Time) {
        match (&mut self.overlay, keys) {
            (Some(Overlay::Words(words)), _) => {
                words.editor.press(event);
            }
            (Some(Overlay::Palette(palette)), _) => {
                palette.editor.press(event);
            }
            (None, Keys::Composer) if self.composer.editor.press(event) => {
                self.wrote = Some(now);
            }
            _ => (),
        }
    }

    /// Does what was asked for, by key, palette or mouse.
    pub(super) fn act(&mut self, action: Action, now: Time) -> Vec<Effect> {
        if self.overlay.is_some() {
            return self.act_in_overlay(action, now);
        }
        if let Some(recording) = &mut self.recording {
            if recording.act(action, &mut self.sight.state) {
                return Vec::new();
            }
            if action == Action::Fork {
                let seq = recording.position().0.saturating_sub(1) as u64;
                let folder = recording.folder.clone();
                return vec![Effect::Choose(Choice::Fork { folder, seq })];
            }
        }
        let live = self.recording.is_none();
        match action {
            Action::AutonomyMore if live => return self.slide(Autonomy::more, now),
            Action::AutonomyLess if live => return self.slide(Autonomy::less, now),
            Action::Interrupt => return self.interrupt(now),
            Action::Quit => return self.quit(now),
            Action::Suspend => return vec![Effect::Suspend],
            Action::Redraw => return vec![Effect::Redraw],
            Action::Send => {
                return match self.composer.send() {
                    Some(words) => vec![Effect::Ask(Request::Say(words))],
                    None => Vec::new(),
                };
            }
            Action::EditDraft => {
                return vec![Effect::EditDraft(self.composer.editor.text().to_owned())];
            }
            Action::NewLine => self.composer.editor.insert("\n"),
            Action::OlderDraft => self.composer.older(),
            Action::NewerDraft => self.composer.newer(),
            Action::ClearDraft => self.composer.editor.set(""),
            Action::Help => self.overlay = Some(Overlay::Help(Help::default())),
            Action::Palette => self.overlay = Some(Overlay::Palette(self.palette())),
            Action::OtherTheme => {
                self.sight.theme = self.sight.theme.next();
                let words = format!("theme: {}", self.sight.theme.name);
                self.say(words, Slot::Accent, now);
            }
            Action::Review if self.approval.is_aside() => self.approval.come_back(),
            Action::Review => self.say("nothing waits for an answer", Slot::Dim, now),
            _ if self.walk(action) => (),
            _ => return self.act_in_place(action, now),
        }
        Vec::new()
    }

    /// Moves between the parts of the screen; whether the action was one of that.
    fn walk(&mut self, action: Action) -> bool {
        let panes = self.panes.len();
        match action {
            Action::FocusComposer => self.go(Focus::Composer),
            Action::FocusNext => self.go(match self.focus {
                Focus::Composer => Focus::Transcript,
                Focus::Transcript => Focus::Pane,
                Focus::Pane => Focus::Composer,
            }),
            Action::FocusPrevious => self.go(match self.focus {
                Focus::Composer => Focus::Pane,
                Focus::Transcript => Focus::Composer,
                Focus::Pane => Focus::Transcript,
            }),
            Action::ShowTranscript => self.go(Focus::Transcript),
            Action::NextPane if self.pane_first => self.show((self.pane + 1) % panes),
            Action::NextPane => self.show(self.pane),
            Action::PreviousPane => self.show((self.pane + panes - 1) % panes),
            Action::ShowPlan => self.show(0),
            Action::ShowIssues => self.show(1),
            Action::ShowTrajectory => self.show(2),
            Action::ShowProfile => self.show(3),
            Action::ShowGates => self.show(4),
            _ => return false,
        }
        true
    }

    pub(super) fn show(&mut self, pane: usize) {
        self.pane = pane.min(self.panes.len() - 1);
        self.go(Focus::Pane);
    }

    fn go(&mut self, focus: Focus) {
        // A recording has nothing to be written to.
        self.focus = match focus {
            Focus::Composer if self.recording.is_some() => Focus::Transcript,
            focus => focus,
        };
        match self.focus {
            Focus::Transcript => self.pane_first = false,
            Focus::Pane => self.pane_first = true,
            Focus::Composer => (),
        }
    }

    /// What is left is for the call that waits, or for the place that has the keys.
    fn act_in_place(&mut self, action: Action, now: Time) -> Vec<Effect> {
        let view = self.sight.view(now, true);
        if self.is_armed(now) && self.recording.is_none() {
            return match self.approval.act(action, &view) {
                Asked::Effect(effect) => vec![effect],
                Asked::Notice(words) => {
                    self.say(words, Slot::Warn, now);
                    Vec::new()
                }
                Asked::Words(call) => {
                    self.overlay = Some(Overlay::Words(Words::new(call)));
                    Vec::new()
                }
                Asked::Nothing => Vec::new(),
            };
        }
        let transcript = match self.focus {
            Focus::Transcript => true,
            Focus::Pane => false,
            Focus::Composer => !self.pane_first,
        };
        let effect = if transcript {
            self.conversation.act(action, &view)
        } else {
            self.panes[self.pane].act(action, &view)
        };
        match effect {
            Some(Effect::Show { title, artifact }) => {
                self.overlay = Some(Overlay::Pager(Pager::new(title, artifact)));
                Vec::new()
            }
            Some(_) if self.recording.is_some() => {
                self.say("a recording is only looked at", Slot::Warn, now);
                Vec::new()
            }
            effect => effect.into_iter().collect(),
        }
    }

    fn act_in_overlay(&mut self, action: Action, now: Time) -> Vec<Effect> {
        let Some(overlay) = &mut self.overlay else { return Vec::new() };
        if matches!(action, Action::Close | Action::FocusComposer | Action::Quit) {
            self.overlay = None;
            return Vec::new();
        }
        match overlay {
            Overlay::Help(_) if action == Action::Help => self.overlay = None,
            Overlay::Help(help) => help.act(action),
            Overlay::Pager(pager) => pager.act(action),
            Overlay::Words(words) if action == Action::Send => {
                let (call, why) = (words.call.clone(), words.why());
                self.overlay = None;
                let answer = Answer::Reject { why };
                return vec![Effect::Ask(Request::Answer { call, answer })];
            }
            Overlay::Words(_) => (),
            Overlay::Palette(palette) if action == Action::Send => {
                let picked = palette.picked();
                self.overlay = None;
                return match picked {
                    Some(Picked::Act(action)) => self.act(action, now),
                    Some(Picked::Autonomy(stop)) => vec![set(stop)],
                    None => Vec::new(),
                };
            }
            Overlay::Palette(palette) => palette.act(action),
        }
        Vec::new()
    }

    /// What can be done from here: answers only while something waits for one.
    fn palette(&self) -> Palette {
        let asks = self.approval.is_up() && self.recording.is_none();
        let recorded = self.recording.is_some();
        let reaches = |action: &Action| {
            let rows = self.sight.keymap.rows().filter(|row| row.action == *action);
            rows.map(|row| row.context).any(|context| match context {
                Context::Approval => asks && self.approval.mode == Mode::Beside,
                Context::Replay => recorded,
                Context::Composer | Context::Recalled => !recorded,
                Context::Pane | Context::Global | Context::Blank => true,
                Context::Hunks
                | Context::Diff
                | Context::Words
                | Context::List
                | Context::Shelf => false,
            })
        };
        let moves = [Action::Palette, Action::Send, Action::NewLine];
        let offered = Action::ALL.iter().copied().filter(reaches);
        Palette::new(offered.filter(|action| !moves.contains(action)))
    }

    fn slide(&mut self, to: fn(Autonomy) -> Autonomy, now: Time) -> Vec<Effect> {
        let stop = self.sight.state.autonomy;
        if to(stop) == stop {
            self.say(format!("{stop} is the last stop on this side"), Slot::Dim, now);
            return Vec::new();
        }
        vec![set(to(stop))]
    }

    fn interrupt(&mut self, now: Time) -> Vec<Effect> {
        let state = &self.sight.state;
        if self.approval.is_aside() {
            self.approval.come_back();
            return Vec::new();
        }
        if state.busy && self.recording.is_none() {
            self.say("stopping the turn …", Slot::Warn, now);
            return vec![Effect::Ask(Request::Interrupt)];
        }
        if self.composer.editor.is_blank() {
            return self.quit(now);
        }
        self.composer.editor.set("");
        Vec::new()
    }

    /// At once where nothing is lost by it, else when it is asked for again.
    fn quit(&mut self, now: Time) -> Vec<Effect> {
        let again = self
            .asked_twice
            .is_some_and(|(what, at)| what == Twice::Quit && now.millis() < at.millis() + TWICE_MS);
        let at_work = self.sight.state.open_calls().next().is_some() || self.sight.state.busy;
        if again || self.recording.is_some() || self.sight.drafts.broken.is_some() {
            return vec![Effect::Quit];
        }
        self.asked_twice = Some((Twice::Quit, now));
        let words = if at_work {
            "press again to leave: what is at work stops, `pilotfish resume` goes on"
        } else {
            "press again to leave: `pilotfish resume` goes on from here"
        };
        self.say(words, Slot::Warn, now);
        Vec::new()
    }
}

fn set(stop: Autonomy) -> Effect {
    Effect::Ask(Request::SetAutonomy(stop))
}
