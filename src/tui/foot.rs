//! The last row: what goes on or was just said, and the keys that help here.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::action::Action;
use super::app::{App, Focus};
use super::keymap::Context;
use super::recording::Recording;
use super::slot::Slot;
use super::theme::Theme;
use super::widget::{cut, meter, one_line, put, span, width};
use crate::base::Time;

const WRITING: [(Action, &str); 4] = [
    (Action::FocusNext, "panes"),
    (Action::Palette, "commands"),
    (Action::Help, "keys"),
    (Action::Interrupt, "stop"),
];
const LOOKING: [(Action, &str); 5] = [
    (Action::FocusComposer, "write"),
    (Action::NextSection, "next"),
    (Action::Open, "open"),
    (Action::Palette, "commands"),
    (Action::Help, "keys"),
];
const SCRUBBING: [(Action, &str); 5] = [
    (Action::NextEvent, "event"),
    (Action::NextPhase, "phase"),
    (Action::Fork, "fork here"),
    (Action::Help, "keys"),
    (Action::Quit, "leave"),
];

pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer, now: Time) {
    let keys = match (app.recording.is_some(), app.focus) {
        (true, _) => app.hints(&[Context::Replay, Context::Pane, Context::Global], &SCRUBBING),
        (false, Focus::Composer) => app.hints(&[Context::Composer, Context::Global], &WRITING),
        (false, _) => app.hints(&[Context::Pane, Context::Global], &LOOKING),
    };
    let taken: usize = keys.iter().map(|span| width(&span.content)).sum();
    let room = usize::from(area.width).saturating_sub(taken + 3);
    let told = told(app, now);
    let said: usize = width(&told.content);
    // What was said matters more than keys that are in the help as well.
    let shows_keys = said <= room;
    let most = if shows_keys { room } else { usize::from(area.width.saturating_sub(2)) };
    let told = span(cut(&told.content, most), told.style);
    put(buffer, (area.x + 1, area.y), area.width, &[told]);
    if shows_keys {
        let x = area.right().saturating_sub(taken as u16);
        put(buffer, (x, area.y), taken as u16, &keys);
    }
}

fn told(app: &App, now: Time) -> Span<'static> {
    let (sight, theme) = (&app.sight, &app.sight.theme);
    if let Some(why) = &sight.drafts.broken {
        return span(format!("the session cannot go on: {}", one_line(why)), theme.of(Slot::Bad));
    }
    if let Some(notice) = &app.notice {
        return span(one_line(&notice.words), theme.of(notice.slot));
    }
    if let Some(recording) = &app.recording {
        return match &recording.flaw {
            Some(flaw) => {
                let words = format!("a recording, cut short: {}", one_line(flaw));
                span(words, theme.of(Slot::Warn))
            }
            None => span("a recording", theme.of(Slot::Dim)),
        };
    }
    let waiting = sight.state.asking().count();
    if waiting > 0 {
        let words = match (app.approval.is_aside(), app.is_armed(now)) {
            (true, _) => format!("{waiting} set aside, r or ctrl-r comes back to it"),
            (false, true) => "waits for you".to_owned(),
            (false, false) => "waits for you, when you pause".to_owned(),
        };
        return span(format!("? {words}"), theme.of(Slot::Warn));
    }
    let at_work = sight.state.open_calls().next();
    if let Some(record) = at_work {
        let words = sight.drafts.working.get(&record.call.id);
        let words = words.map(|words| format!(" · {}", one_line(words))).unwrap_or_default();
        let tool = one_line(&record.call.tool);
        return span(format!("● {tool}{words}"), theme.of(Slot::Busy));
    }
    if sight.state.busy {
        return span("● thinking", theme.of(Slot::Busy));
    }
    match &sight.state.blocker {
        Some(why) => span(format!("! {}", one_line(why)), theme.of(Slot::Warn)),
        None => span("ready", theme.of(Slot::Dim)),
    }
}

/// How far a recording was taken in, and by which fact.
pub(super) fn scrub_bar(recording: &Recording, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let (at, all) = recording.position();
    let count = format!("{at}/{all} ");
    let by = recording.last().map(|entry| format!(" {} · {}", entry.by.name(), recording.word()));
    let by = by.unwrap_or_default();
    let cells = usize::from(area.width).saturating_sub(width(&count) + 34).clamp(4, 80);
    let mut spans = vec![span(count, theme.of(Slot::Strong))];
    spans.extend(meter(
        at as f64,
        all as f64,
        cells,
        theme.of(Slot::Accent),
        theme.of(Slot::Faint),
    ));
    spans.push(span(by, theme.of(Slot::Dim)));
    put(buffer, (area.x, area.y), area.width, &spans);
}
