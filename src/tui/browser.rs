//! What there is to choose from: sessions to go on with, recordings to look through, models.

use std::fmt::Write as _;
use std::path::PathBuf;

use crossterm::event::{Event, KeyEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;

use super::action::Action;
use super::choice::{Choice, Shelf};
use super::effect::Effect;
use super::key::Key;
use super::keymap::{Context, Keymap, Match};
use super::load::{Got, Wanted};
use super::pane::Scroll;
use super::setup::Setup;
use super::slot::Slot;
use super::stage::Scene;
use super::theme::Theme;
use super::widget::{
    Editor, cut, elapsed, fill, one_line, pad_right, put, rank, rule, scrollbar, span,
};
use crate::base::Time;
use crate::session::{Header, Phase, Store};

pub(super) struct Browser {
    rows: Vec<Row>,
    /// The rows that match what was typed, the best first.
    found: Vec<usize>,
    selected: usize,
    scroll: Scroll,
    search: Editor,
    theme: Theme,
    keymap: Keymap,
}

struct Row {
    kind: Kind,
    name: String,
    told: String,
    searched: String,
}

impl Row {
    fn new(kind: Kind, name: &str, told: String) -> Self {
        let name = one_line(name);
        let searched = format!("{name} {} {told}", kind.word());
        Self { kind, name, told, searched }
    }
}

enum Kind {
    Session(Header, PathBuf),
    Recording(Header),
    Model(String),
}

impl Kind {
    fn word(&self) -> &'static str {
        match self {
            Self::Session(..) => "session",
            Self::Recording(_) => "recording",
            Self::Model(_) => "new",
        }
    }
}

impl Browser {
    pub(super) fn new(shelf: Shelf, setup: &Setup) -> Self {
        let now = setup.clock.now();
        let mut rows = Vec::new();
        for root in shelf.workspaces {
            let listed = Store::of(root.join(".pilotfish/sessions")).list().unwrap_or_default();
            let name = root.display().to_string();
            rows.extend(listed.into_iter().map(|header| {
                let told = told(&header, Some(now));
                Row::new(Kind::Session(header, root.clone()), &name, told)
            }));
        }
        for folder in shelf.recordings {
            let listed = Store::of(folder).list().unwrap_or_default();
            rows.extend(listed.into_iter().map(|header| {
                let (name, told) = (header.id.to_string(), told(&header, None));
                Row::new(Kind::Recording(header), &name, told)
            }));
        }
        rows.extend(shelf.models.into_iter().map(|name| {
            let told = "deploy it from the beginning".to_owned();
            Row::new(Kind::Model(name.clone()), &name, told)
        }));
        let mut browser = Self {
            rows,
            found: Vec::new(),
            selected: 0,
            scroll: Scroll::default(),
            search: Editor::default(),
            theme: setup.theme.clone(),
            keymap: setup.keymap.clone(),
        };
        browser.find();
        browser
    }

    fn find(&mut self) {
        let searched = self.rows.iter().map(|row| row.searched.as_str());
        self.found = rank(self.search.text(), searched);
        self.selected = 0;
    }

    fn press(&mut self, event: KeyEvent) -> Vec<Effect> {
        match self.keymap.find(&[Context::Shelf], &[Key::from(event)]) {
            Match::Act(action) => self.act(action),
            Match::Pending | Match::Nothing => {
                if self.search.press(event) {
                    self.find();
                }
                Vec::new()
            }
        }
    }

    fn act(&mut self, action: Action) -> Vec<Effect> {
        let last = self.found.len().saturating_sub(1);
        let page = self.scroll.height.max(1);
        match action {
            Action::Down => self.selected = (self.selected + 1).min(last),
            Action::Up => self.selected = self.selected.saturating_sub(1),
            Action::PageDown => self.selected = (self.selected + page).min(last),
            Action::PageUp => self.selected = self.selected.saturating_sub(page),
            Action::OtherTheme => self.theme = self.theme.next(),
            Action::Redraw => return vec![Effect::Redraw],
            Action::Suspend => return vec![Effect::Suspend],
            Action::Quit => return vec![Effect::Quit],
            Action::Open | Action::LookThrough => {
                let row = self.found.get(self.selected).map(|at| &self.rows[*at]);
                let choice = row.and_then(|row| choice(&row.kind, action));
                return choice.map(Effect::Choose).into_iter().collect();
            }
            _ => (),
        }
        Vec::new()
    }

    fn row(&self, row: &Row, cells: usize) -> Vec<Span<'static>> {
        let theme = &self.theme;
        let slot = match row.kind {
            Kind::Session(..) => Slot::Good,
            Kind::Recording(_) => Slot::Accent,
            Kind::Model(_) => Slot::Warn,
        };
        let names = (cells.saturating_sub(12) * 2 / 5).min(44);
        vec![
            span(pad_right(row.kind.word(), 11), theme.of(slot)),
            span(pad_right(&row.name, names), theme.of(Slot::Strong)),
            span("  ", theme.of(Slot::Text)),
            span(cut(&row.told, cells.saturating_sub(names + 14)), theme.of(Slot::Dim)),
        ]
    }
}

fn told(header: &Header, now: Option<Time>) -> String {
    let model = one_line(&header.model);
    let phase = format!("phase {} of {}", header.phase.number(), Phase::ALL.len() - 1);
    let mut words = format!("{model} → {} · {phase}", one_line(&header.target));
    let _ = write!(words, " · {} facts", header.facts);
    if header.forked {
        words.push_str(" · a fork");
    }
    if let Some(now) = now {
        let _ = write!(words, " · {} ago", elapsed(now.since(header.last)));
    }
    words
}

fn choice(kind: &Kind, action: Action) -> Option<Choice> {
    Some(match (kind, action) {
        (Kind::Session(_, root), Action::Open) => Choice::Resume(root.clone()),
        (Kind::Session(header, _) | Kind::Recording(header), _) => {
            Choice::Replay(header.folder.clone())
        }
        (Kind::Model(name), Action::Open) => Choice::Deploy(name.clone()),
        (Kind::Model(_), _) => return None,
    })
}

impl Scene for Browser {
    fn draw(&mut self, buffer: &mut Buffer, _now: Time) -> Option<Position> {
        let area = buffer.area;
        let theme = self.theme.clone();
        fill(buffer, area, theme.of(Slot::Text));
        let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        let head = [
            span("pilotfish", theme.of(Slot::Title)),
            span(" · what should it be?", theme.of(Slot::Dim)),
        ];
        put(buffer, (inner.x, area.y), inner.width, &head);
        let asked = [
            span("› ", theme.of(Slot::Accent)),
            span(self.search.text().to_owned(), theme.of(Slot::Text)),
        ];
        let end = put(buffer, (inner.x, area.y + 2), inner.width, &asked);
        if self.search.is_blank() {
            let words = span("type to search", theme.of(Slot::Faint));
            put(buffer, (end, area.y + 2), inner.width, &[words]);
        }
        rule(buffer, Rect { y: area.y + 3, height: 1, ..area }, theme.of(Slot::Rule));
        let body = Rect { y: area.y + 4, height: area.height.saturating_sub(6), ..inner };
        self.scroll.fit(self.found.len(), usize::from(body.height));
        self.scroll.show(self.selected);
        if self.found.is_empty() {
            let words = "nothing is called so: `pilotfish deploy MODEL` begins with any checkpoint";
            put(buffer, (body.x, body.y), body.width, &[span(words, theme.of(Slot::Dim))]);
        }
        for (y, at) in self.scroll.rows().enumerate() {
            let y = body.y + y as u16;
            if at == self.selected {
                let line = Rect::new(area.x, y, area.width, 1).intersection(area);
                buffer.set_style(line, theme.of(Slot::Selected));
            }
            let row = &self.rows[self.found[at]];
            put(buffer, (body.x, y), body.width, &self.row(row, usize::from(body.width)));
        }
        scrollbar(buffer, body, self.scroll.bar(), theme.of(Slot::Faint));
        let mut keys = Vec::new();
        for (action, words) in [
            (Action::Open, "go on, look, or begin"),
            (Action::LookThrough, "look through"),
            (Action::OtherTheme, "theme"),
            (Action::Quit, "leave"),
        ] {
            if let Some(written) = self.keymap.keys_of(&[Context::Shelf], action) {
                keys.push(span(written, theme.of(Slot::Key)));
                keys.push(span(format!(" {words}  "), theme.of(Slot::Dim)));
            }
        }
        put(buffer, (inner.x, area.bottom().saturating_sub(1)), inner.width, &keys);
        let x = end.min(inner.right().saturating_sub(1));
        Some(Position::new(x, area.y + 2))
    }

    fn event(&mut self, event: &Event, _now: Time) -> Vec<Effect> {
        match event {
            Event::Key(key) => self.press(*key),
            Event::Paste(text) => {
                self.search.insert(text.lines().next().unwrap_or_default());
                self.find();
                Vec::new()
            }
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::ScrollDown => self.act(Action::Down),
                MouseEventKind::ScrollUp => self.act(Action::Up),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn wants(&mut self, _now: Time) -> Vec<Wanted> {
        Vec::new()
    }

    fn got(&mut self, _wanted: &Wanted, _got: Got) {}

    fn changes_at(&self, _now: Time) -> Option<Time> {
        None
    }
}
