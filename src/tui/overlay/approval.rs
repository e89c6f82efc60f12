//! A call that waits for an answer: what it would change, and the ways to answer.

use std::sync::Arc;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::base::{CallId, Time};
use crate::runtime::Request;
use crate::session::{Answer, State, ToolCall};
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::keymap::Context;
use crate::tui::pane::Scroll;
use crate::tui::proposal::{Proposal, summary};
use crate::tui::slot::Slot;
use crate::tui::view::View;
use crate::tui::widget::{
    Prefix, boxed, cut, fill, one_line, put, rule, scrollbar, span, width, wrap,
};

/// How it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Below the transcript.
    #[default]
    Beside,
    /// On the whole screen.
    Whole,
    /// On the whole screen, hunk by hunk.
    Hunks,
}

/// What came of a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Asked {
    Nothing,
    Effect(Effect),
    Notice(&'static str),
    /// Words are needed for a no.
    Words(CallId),
}

#[derive(Default)]
pub(crate) struct Approval {
    call: Option<CallId>,
    /// When it was first drawn: nobody answers what was not there to be read.
    shown: Option<Time>,
    aside: bool,
    pub mode: Mode,
    scroll: Scroll,
    taken: Vec<bool>,
    hunk: usize,
    rows: Vec<(usize, Line<'static>)>,
    facts: Vec<Line<'static>>,
}

/// Keys reach it after so much time in sight, and so much quiet if a person is writing.
pub(crate) const ARMS_AFTER: Duration = Duration::from_millis(400);

/// The ways to answer, in the order in which they are shown.
const ANSWERS: [(Action, &str); 7] = [
    (Action::Approve, "once"),
    (Action::ApproveAlways, "always"),
    (Action::EditProposal, "edit"),
    (Action::ChooseHunks, "hunks"),
    (Action::Reject, "reject…"),
    (Action::FullDiff, "full diff"),
    (Action::StopTurn, "stop"),
];

impl Approval {
    /// The oldest waiting call is the one that is shown: none is overtaken.
    pub(crate) fn sync(&mut self, state: &State) {
        let first = state.asking().next().map(|(call, _)| &call.id);
        if self.call.as_ref() != first {
            *self = Self { call: first.cloned(), ..Self::default() };
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.call.is_some() && !self.aside
    }

    pub(crate) fn is_aside(&self) -> bool {
        self.call.is_some() && self.aside
    }

    pub(crate) fn come_back(&mut self) {
        self.aside = false;
    }

    /// When keys begin to reach it, if none is pressed until then.
    pub(crate) fn arms_at(&self, last_typed: Option<Time>) -> Option<Time> {
        let shown = self.shown.filter(|_| self.is_up())?;
        let from = last_typed.map_or(shown, |typed| shown.max(typed));
        Some(Time::from_millis(from.millis() + ARMS_AFTER.as_millis() as u64))
    }

    pub(crate) fn was_drawn(&mut self, now: Time) {
        if self.is_up() {
            self.shown.get_or_insert(now);
        }
    }

    pub(crate) fn contexts(&self) -> &'static [Context] {
        match self.mode {
            Mode::Beside => &[Context::Approval, Context::Pane, Context::Global],
            Mode::Whole => &[Context::Diff, Context::Approval, Context::Pane, Context::Global],
            Mode::Hunks => &[Context::Hunks, Context::Pane, Context::Global],
        }
    }

    fn asked<'a>(&self, view: &View<'a>) -> Option<(&'a ToolCall, &'a str)> {
        view.state.asking().next().filter(|(call, _)| Some(&call.id) == self.call.as_ref())
    }

    fn proposal<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Proposal>> {
        view.loaded.proposal(self.asked(view)?.0)
    }

    pub(crate) fn act(&mut self, action: Action, view: &View<'_>) -> Asked {
        let Some((call, _)) = self.asked(view) else { return Asked::Nothing };
        let id = call.id.clone();
        let answer = |answer| {
            let call = id.clone();
            Asked::Effect(Effect::Ask(Request::Answer { call, answer }))
        };
        let proposal = self.proposal(view);
        match action {
            Action::Approve => answer(Answer::Once),
            Action::ApproveAlways => match proposal.and_then(|proposal| proposal.grant.clone()) {
                Some(grant) => answer(Answer::Always(grant)),
                None => Asked::Notice("nothing can stand for this: it asks every time"),
            },
            Action::EditProposal => match proposal.and_then(|proposal| proposal.writes.clone()) {
                Some((path, text)) => Asked::Effect(Effect::EditProposal { call: id, path, text }),
                None => Asked::Notice("this call writes no text that could be edited"),
            },
            Action::ChooseHunks => match proposal.and_then(|proposal| proposal.change.as_ref()) {
                Some(change) if !change.hunks.is_empty() => {
                    self.mode = Mode::Hunks;
                    self.taken = vec![true; change.hunks.len()];
                    self.hunk = 0;
                    self.scroll.go(0);
                    Asked::Nothing
                }
                _ => Asked::Notice("this call has no hunks to choose from"),
            },
            Action::Reject => Asked::Words(id),
            Action::StopTurn => answer(Answer::Stop),
            Action::SetAside => {
                self.aside = true;
                Asked::Nothing
            }
            Action::FullDiff => {
                self.mode = Mode::Whole;
                Asked::Nothing
            }
            Action::Close => {
                self.mode = Mode::Beside;
                self.scroll.go(0);
                Asked::Nothing
            }
            Action::ApplyHunks => {
                let taken = (0u32..).zip(&self.taken).filter(|(_, taken)| **taken);
                let taken: Vec<u32> = taken.map(|(at, _)| at).collect();
                match taken.len() {
                    0 => Asked::Notice("no hunk is chosen: `esc`, then `n` says no to all of it"),
                    count if count == self.taken.len() => answer(Answer::Once),
                    _ => answer(Answer::Hunks(taken)),
                }
            }
            _ => {
                self.walk(action);
                Asked::Nothing
            }
        }
    }

    fn walk(&mut self, action: Action) {
        match action {
            Action::ToggleHunk => {
                if let Some(taken) = self.taken.get_mut(self.hunk) {
                    *taken = !*taken;
                }
            }
            Action::NextHunk | Action::PreviousHunk => {
                let last = self.taken.len().saturating_sub(1);
                self.hunk = match action {
                    Action::NextHunk => (self.hunk + 1).min(last),
                    _ => self.hunk.saturating_sub(1),
                };
                if let Some(row) = self.rows.iter().position(|(hunk, _)| *hunk == self.hunk) {
                    self.scroll.go(row);
                }
            }
            _ => {
                self.scroll.act(action);
            }
        }
    }

    /// How many rows it would like beside the transcript, edges included.
    pub(crate) fn fit(&mut self, cells: usize, most: usize, view: &View<'_>) -> usize {
        let inner = cells.saturating_sub(4);
        let (rows, facts) =
            (self.change_rows(inner.saturating_sub(1), view), self.fact_rows(inner, view));
        (self.rows, self.facts) = (rows, facts);
        let around = self.facts.len() + 3;
        let body = match self.mode {
            Mode::Beside => self.rows.len().min(most.saturating_sub(around)),
            _ => most.saturating_sub(around + 1),
        };
        self.scroll.fit(self.rows.len(), body);
        around + body
    }

    fn change_rows(&self, cells: usize, view: &View<'_>) -> Vec<(usize, Line<'static>)> {
        let Some(change) = self.proposal(view).and_then(|proposal| proposal.change.as_ref()) else {
            return Vec::new();
        };
        match self.mode {
            Mode::Hunks => change.rows(view.theme, cells, Some(&self.taken), Some(self.hunk)),
            _ => change.rows(view.theme, cells, None, None),
        }
    }

    /// What is known of the call above its change: why it asks, what it brings, what `always` is.
    fn fact_rows(&self, cells: usize, view: &View<'_>) -> Vec<Line<'static>> {
        let theme = view.theme;
        let Some((call, why)) = self.asked(view) else { return Vec::new() };
        let (dim, text) = (theme.of(Slot::Dim), theme.of(Slot::Text));
        let mut rows = Vec::new();
        let mut first = Vec::new();
        let proposal = self.proposal(view);
        if let Some(change) = proposal.and_then(|proposal| proposal.change.as_ref()) {
            first.push(span(format!("{}  ", change.path), theme.of(Slot::Strong)));
            first.push(span(format!("+{}", change.added), theme.of(Slot::Good)));
            first.push(span(format!(" −{}", change.removed), theme.of(Slot::Bad)));
        } else {
            let words = summary(call);
            first.push(span(format!("{} ", one_line(&call.tool)), theme.of(Slot::Strong)));
            first.push(span(words, text));
        }
        if let Some(proposal) = proposal
            && let Some(words) = proposal.prediction()
        {
            let better = proposal.predicted.is_some_and(|(before, after)| after <= before);
            first.push(span("   ", text));
            first.push(span(words, theme.of(if better { Slot::Good } else { Slot::Bad })));
        }
        let hanging = Prefix { first: Vec::new(), rest: vec![span("  ", text)] };
        rows.extend(wrap(&first, cells, &hanging));
        for words in proposal.iter().flat_map(|proposal| &proposal.words) {
            rows.extend(wrap(&[span(words.clone(), text)], cells, &hanging));
        }
        if proposal.is_none() {
            rows.push(Line::from(span("reading what it would change …", dim)));
        }
        let why = [span("asks because it ", dim), span(one_line(why), text)];
        rows.extend(wrap(&why, cells, &hanging));
        if let Some(grant) = proposal.and_then(|proposal| proposal.grant.as_ref()) {
            let grant = one_line(&grant.to_string());
            if !grant.is_empty() {
                let words = [span("always would be: ", dim), span(grant, dim)];
                rows.extend(wrap(&words, cells, &hanging));
            }
        }
        rows
    }

    fn title(&self, view: &View<'_>) -> String {
        let Some((call, _)) = self.asked(view) else { return String::new() };
        let told = self.proposal(view).and_then(|proposal| proposal.title.clone());
        let words = told.unwrap_or_else(|| one_line(&call.tool));
        let more = view.state.asking().count() - 1;
        let more = if more > 0 { format!(" · {more} more wait") } else { String::new() };
        match self.mode {
            Mode::Hunks => format!("which hunks of {words}?"),
            _ => format!("approve? {words}{more}"),
        }
    }

    pub(crate) fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) {
        let theme = view.theme;
        let armed = view.focused;
        let edge = theme.of(if armed { Slot::Warn } else { Slot::Rule });
        if self.mode != Mode::Beside {
            fill(buffer, area, theme.of(Slot::Text));
        }
        let title_style = theme.of(if armed { Slot::Warn } else { Slot::Dim });
        let title = self.title(view);
        let inner = boxed(buffer, area, (&title, title_style), (theme.of(Slot::Text), edge));
        let mut y = inner.y;
        for line in &self.facts {
            if y >= inner.bottom() {
                return;
            }
            put(buffer, (inner.x, y), inner.width, &line.spans);
            y += 1;
        }
        let answers = inner.bottom().saturating_sub(1);
        if self.mode != Mode::Beside && y < answers {
            rule(buffer, Rect::new(inner.x, y, inner.width, 1), theme.of(Slot::Rule));
            y += 1;
        }
        let body = Rect::new(inner.x, y, inner.width, answers.saturating_sub(y));
        for (offset, row) in self.scroll.rows().enumerate().take(usize::from(body.height)) {
            let y = body.y + offset as u16;
            put(buffer, (body.x, y), body.width.saturating_sub(1), &self.rows[row].1.spans);
        }
        scrollbar(buffer, body, self.scroll.bar(), theme.of(Slot::Dim));
        let below = self.scroll.total.saturating_sub(self.scroll.at + self.scroll.height);
        if below > 0 && area.width > 30 {
            let words = format!(" ↓ {below} more rows ");
            let at = (area.right().saturating_sub(width(&words) as u16 + 2), area.bottom() - 1);
            put(buffer, at, area.width, &[span(words, theme.of(Slot::Dim))]);
        }
        self.draw_answers(view, Rect::new(inner.x, answers, inner.width, 1), buffer);
    }

    fn draw_answers(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) {
        let theme = view.theme;
        if !view.focused {
            let words = "keys still go to your message: pause a moment to answer";
            put(buffer, (area.x, area.y), area.width, &[span(words, theme.of(Slot::Dim))]);
            return;
        }
        let hunks = [
            (Action::ToggleHunk, "take or leave"),
            (Action::NextHunk, "next"),
            (Action::ApplyHunks, "apply the chosen"),
            (Action::Close, "back"),
        ];
        let shown: &[(Action, &str)] = if self.mode == Mode::Hunks { &hunks } else { &ANSWERS };
        let contexts = self.contexts();
        let mut spans = Vec::new();
        for (action, words) in shown {
            let closes = *action == Action::FullDiff && self.mode == Mode::Whole;
            let (action, words) = if closes { (Action::Close, "back") } else { (*action, *words) };
            let Some(keys) = view.keymap.keys_of(contexts, action) else { continue };
            spans.push(span(keys, theme.of(Slot::Key)));
            spans.push(span(format!(" {words}  "), theme.of(Slot::Text)));
        }
        let used: usize = spans.iter().map(|span| width(&span.content)).sum();
        if used > usize::from(area.width) + 2 {
            // Too narrow for words on all: the keys alone still tell.
            for part in spans.iter_mut().skip(1).step_by(2) {
                part.content = cut(part.content.trim(), 7).into();
                part.content.to_mut().insert(0, ' ');
                part.content.to_mut().push(' ');
            }
        }
        put(buffer, (area.x, area.y), area.width, &spans);
    }
}
