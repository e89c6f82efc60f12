//! The screen of a session: everything is laid out first, then drawn from the back to the front.

use crossterm::event::Event;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;

use super::action::Action;
use super::app::{App, Focus, Overlay};
use super::effect::Effect;
use super::foot;
use super::head::head;
use super::keymap::Context;
use super::load::{Got, Wanted};
use super::overlay::Mode;
use super::pane::Pane;
use super::places::Places;
use super::slot::Slot;
use super::spot::Spot;
use super::stage::Scene;
use super::widget::{fill, put, rule, span};
use crate::base::Time;

impl Scene for App {
    fn draw(&mut self, buffer: &mut Buffer, now: Time) -> Option<Position> {
        self.pass(now);
        Self::draw(self, buffer, now)
    }

    fn event(&mut self, event: &Event, now: Time) -> Vec<Effect> {
        match event {
            Event::Key(key) => self.press(*key, now),
            Event::Mouse(mouse) => self.click(*mouse, now),
            Event::Paste(text) => {
                self.paste(text, now);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn wants(&mut self, now: Time) -> Vec<Wanted> {
        Self::wants(self, now)
    }

    fn got(&mut self, wanted: &Wanted, got: Got) {
        Self::got(self, wanted, got);
    }

    fn changes_at(&self, now: Time) -> Option<Time> {
        Self::changes_at(self, now)
    }
}

impl App {
    /// Draws all of it; returns where the cursor is, if somebody writes.
    pub fn draw(&mut self, buffer: &mut Buffer, now: Time) -> Option<Position> {
        let area = buffer.area;
        self.spots.clear();
        fill(buffer, area, self.sight.theme.of(Slot::Text));
        let column = Places::column(area.width);
        let rows = match self.recording {
            Some(_) => 1,
            None => self.composer.rows(usize::from(column.saturating_sub(1))),
        };
        let Some(places) = Places::of(area, rows, self.pane_first) else {
            let style = self.sight.theme.of(Slot::Dim);
            put(buffer, (area.x, area.y), area.width, &[span("too small", style)]);
            return None;
        };
        self.draw_edges(&places, buffer, now);
        self.draw_bodies(&places, buffer, now);
        let mut cursor = self.draw_composer(&places, buffer, now);
        foot::draw(self, places.foot, buffer, now);
        if self.draw_approval(&places, area, buffer, now) {
            cursor = None;
        }
        if self.overlay.is_some() {
            return self.draw_overlay(&places, area, buffer, now);
        }
        cursor
    }

    fn draw_edges(&mut self, places: &Places, buffer: &mut Buffer, now: Time) {
        let view = self.sight.view(now, false);
        self.spots.extend(head(&view, places.head, buffer));
        let theme = &self.sight.theme;
        if places.wide {
            let y = places.head.bottom();
            rule(buffer, Rect::new(places.head.x, y, places.head.width, 1), theme.of(Slot::Rule));
            let x = places.column.right();
            for y in y..places.foot.y {
                let symbol = if y == places.head.bottom() { "┬" } else { "│" };
                put(buffer, (x, y), 1, &[span(symbol, theme.of(Slot::Rule))]);
            }
        }
        self.draw_titles(places, buffer, now);
    }

    /// The names of the transcript and of the panes, each with the key that shows it.
    fn draw_titles(&mut self, places: &Places, buffer: &mut Buffer, now: Time) {
        let titles = places.titles;
        let mut x = titles.x;
        let on = places.transcript.is_some();
        let focused = self.focus == Focus::Transcript;
        x = self.tab(None, "0 Talk", (on, focused), (x, titles.y), buffer);
        x = if places.wide { places.column.right() + 1 } else { x };
        for at in 0..self.panes.len() {
            let view = self.sight.view(now, false);
            let pane = &self.panes[at];
            let shown = at == self.pane && places.pane.is_some();
            let badge = pane.badge(&view).filter(|_| places.wide);
            let badge = badge.map(|badge| format!(" {badge}")).unwrap_or_default();
            let words = format!("{} {}{badge}", at + 1, pane.title());
            let focused = self.focus == Focus::Pane;
            x = self.tab(Some(at), &words, (shown, focused), (x, titles.y), buffer);
        }
    }

    fn tab(
        &mut self,
        at: Option<usize>,
        words: &str,
        (shown, focused): (bool, bool),
        (x, y): (u16, u16),
        buffer: &mut Buffer,
    ) -> u16 {
        let theme = &self.sight.theme;
        let words = if shown { format!("[{words}]") } else { format!(" {words} ") };
        let style = match (shown, focused) {
            (true, true) => theme.of(Slot::Accent),
            (true, false) => theme.of(Slot::Title),
            (false, _) => theme.of(Slot::Dim),
        };
        let end = put(buffer, (x, y), buffer.area.width, &[span(words, style)]);
        self.spots.push((Rect::new(x, y, end - x, 1), Spot::Tab(at)));
        end
    }

    fn draw_bodies(&mut self, places: &Places, buffer: &mut Buffer, now: Time) {
        let inner =
            |place: Rect| Rect { x: place.x + 1, width: place.width.saturating_sub(1), ..place };
        if let Some(place) = places.transcript {
            let room = Rect { height: self.above(places, place, now), ..place };
            let view = self.sight.view(now, self.focus == Focus::Transcript);
            self.conversation.fit(room, &view);
            self.conversation.draw(&view, room, buffer);
            self.spots.push((place, Spot::Transcript));
        }
        if let Some(place) = places.pane {
            let view = self.sight.view(now, self.focus == Focus::Pane);
            let pane = &mut self.panes[self.pane];
            let room = inner(place);
            pane.fit(room, &view);
            pane.draw(&view, room, buffer);
            self.spots.push((place, Spot::Pane));
        }
    }

    /// The rows of the transcript that the waiting call leaves: the last words stay in sight.
    fn above(&mut self, places: &Places, place: Rect, now: Time) -> u16 {
        let asked = self.beside(places, now).map_or(0, |asked| asked.height);
        place.height.saturating_sub(asked)
    }

    fn draw_composer(
        &mut self,
        places: &Places,
        buffer: &mut Buffer,
        now: Time,
    ) -> Option<Position> {
        let place = places.composer;
        self.spots.push((place, Spot::Composer));
        let theme = &self.sight.theme;
        let above = Rect { y: place.y.saturating_sub(1), height: 1, ..place };
        rule(buffer, above, theme.of(Slot::Rule));
        if places.wide {
            put(buffer, (above.right(), above.y), 1, &[span("┤", theme.of(Slot::Rule))]);
        }
        let inner = Rect { x: place.x + 1, width: place.width.saturating_sub(2), ..place };
        if let Some(recording) = &self.recording {
            foot::scrub_bar(recording, theme, inner, buffer);
            return None;
        }
        let focused = self.focus == Focus::Composer;
        let cursor = self.composer.draw(theme, inner, buffer, focused);
        let shown = focused && self.overlay.is_none() && !self.is_armed(now);
        shown.then_some(cursor)
    }

    /// Where a call that waits stands below the transcript, if that is where it is shown.
    fn beside(&mut self, places: &Places, now: Time) -> Option<Rect> {
        let shown = self.approval.is_up() && self.recording.is_none();
        if !shown || self.approval.mode != Mode::Beside {
            return None;
        }
        let column = places.column;
        let end = places.composer.y.saturating_sub(1);
        let room = end.saturating_sub(column.y);
        let view = self.sight.view(now, false);
        // Some rows of what led to the question stay in sight.
        let most = usize::from(room.saturating_sub(room / 4).max(room.min(8)));
        let rows = self.approval.fit(usize::from(column.width), most, &view).min(most) as u16;
        Some(Rect { y: end - rows, height: rows, ..column })
    }

    /// Draws the call that waits; whether it has the keys.
    fn draw_approval(
        &mut self,
        places: &Places,
        area: Rect,
        buffer: &mut Buffer,
        now: Time,
    ) -> bool {
        if !self.approval.is_up() || self.recording.is_some() {
            return false;
        }
        let place = self.beside(places, now).unwrap_or_else(|| {
            let view = self.sight.view(now, false);
            self.approval.fit(usize::from(area.width), usize::from(area.height), &view);
            area
        });
        self.approval.was_drawn(now);
        let armed = self.is_armed(now);
        let view = self.sight.view(now, armed);
        self.approval.draw(&view, place, buffer);
        self.spots.push((place, Spot::Approval));
        armed
    }

    fn draw_overlay(
        &mut self,
        places: &Places,
        area: Rect,
        buffer: &mut Buffer,
        now: Time,
    ) -> Option<Position> {
        let view = self.sight.view(now, true);
        let within = Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(2),
        };
        let (place, cursor) = match self.overlay.as_mut()? {
            Overlay::Help(help) => {
                help.fit(within, &view);
                help.draw(&view, within, buffer);
                (within, None)
            }
            Overlay::Palette(palette) => {
                let width = within.width.min(96);
                let height = within.height.min(24);
                let x = area.x + (area.width - width) / 2;
                let place = Rect { x, width, height, ..within };
                palette.fit(height);
                (place, Some(palette.draw(&view, place, buffer)))
            }
            Overlay::Words(words) => {
                let end = places.composer.bottom();
                let place = Rect { height: end - places.column.y, ..places.column };
                (place, Some(words.draw(&view, place, buffer)))
            }
            Overlay::Pager(pager) => {
                pager.fit(area, &view);
                pager.draw(&view, area, buffer);
                (area, None)
            }
        };
        self.spots.push((place, Spot::Overlay));
        cursor
    }

    /// The keys of some actions, as they can be pressed from here.
    pub(super) fn hints(
        &self,
        contexts: &[Context],
        wanted: &[(Action, &str)],
    ) -> Vec<Span<'static>> {
        let theme = &self.sight.theme;
        let mut spans = Vec::new();
        for (action, words) in wanted {
            if let Some(keys) = self.sight.keymap.keys_of(contexts, *action) {
                spans.push(span(keys, theme.of(Slot::Key)));
                spans.push(span(format!(" {words}  "), theme.of(Slot::Dim)));
            }
        }
        spans
    }
}
