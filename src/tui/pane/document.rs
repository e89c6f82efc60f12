//! A document of the workspace, rendered: the plan, the issues.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::pane::Pane;
use super::scroll::Scroll;
use crate::session::Author;
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::load::{Got, Wanted};
use crate::tui::slot::Slot;
use crate::tui::view::View;
use crate::tui::widget::{Page, one_line, put, render, scrollbar, span};

pub(crate) struct Document {
    title: &'static str,
    path: &'static str,
    scroll: Scroll,
    /// The first cell of wide rows that is shown.
    left: usize,
    page: Page,
    /// What the page was made of: the text, its width, the theme.
    made_of: Option<(Arc<str>, usize, String)>,
}

const STEP: usize = 8;

impl Document {
    pub(crate) fn new(title: &'static str, path: &'static str) -> Self {
        let (scroll, page) = (Scroll::default(), Page::default());
        Self { title, path, scroll, left: 0, page, made_of: None }
    }

    fn text<'a>(&self, view: &View<'a>) -> Option<&'a Arc<str>> {
        match view.loaded.get(&view.document(self.path)) {
            Some(Got::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn heading(&self, forward: Action) -> Option<usize> {
        let rows = self.page.headings.iter().map(|(row, ..)| *row);
        match forward {
            Action::NextSection => rows.clone().find(|row| *row > self.scroll.at),
            _ => rows.rev().find(|row| *row < self.scroll.at),
        }
    }

    /// Which heading the first row belongs to, and whose hand wrote the document last.
    fn caption(&self, view: &View<'_>) -> String {
        let mut words = vec![self.path.to_owned()];
        let before = |(row, ..): &&(usize, usize, String)| *row <= self.scroll.at;
        if let Some((_, _, heading)) = self.page.headings.iter().rev().find(before) {
            words.push(one_line(heading));
        }
        if let Some(document) = view.state.documents.get(self.path) {
            words.push(match document.by {
                Author::User => "last changed by you".to_owned(),
                Author::Agent => "last changed by the agent".to_owned(),
                Author::System | Author::Evaluator => "kept by pilotfish".to_owned(),
            });
        }
        words.join(" · ")
    }
}

impl Pane for Document {
    fn title(&self) -> &'static str {
        self.title
    }

    fn wants(&self, view: &View<'_>) -> Vec<Wanted> {
        vec![view.document(self.path)]
    }

    fn act(&mut self, action: Action, _view: &View<'_>) -> Option<Effect> {
        if self.scroll.act(action) {
            return None;
        }
        match action {
            Action::Left => self.left = self.left.saturating_sub(STEP),
            Action::Right => self.left += STEP,
            Action::NextSection | Action::PreviousSection => {
                if let Some(row) = self.heading(action) {
                    self.scroll.go(row);
                }
            }
            Action::EditDocument => return Some(Effect::EditDocument(self.path.to_owned())),
            _ => (),
        }
        None
    }

    fn fit(&mut self, area: Rect, view: &View<'_>) {
        let cells = usize::from(area.width.saturating_sub(1));
        if let Some(text) = self.text(view) {
            let same = self.made_of.as_ref().is_some_and(|(old, wide, theme)| {
                Arc::ptr_eq(old, text) && *wide == cells && *theme == view.theme.name
            });
            if !same {
                self.page = render(text, cells, view.theme);
                self.made_of = Some((Arc::clone(text), cells, view.theme.name.clone()));
            }
        } else {
            (self.page, self.made_of) = (Page::default(), None);
        }
        let height = usize::from(area.height.saturating_sub(1));
        self.scroll.fit(self.page.rows.len(), height);
        self.left = self.left.min(self.page.widest.saturating_sub(cells));
    }

    fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) {
        let theme = view.theme;
        if self.made_of.is_none() {
            let words = match view.loaded.get(&view.document(self.path)) {
                Some(Got::Missing(_)) if view.recorded => {
                    format!("the recording does not hold `{}`", self.path)
                }
                Some(Got::Missing(_)) => {
                    format!("`{}` is not written yet: it comes with the first phase", self.path)
                }
                _ => format!("reading {} …", self.path),
            };
            put(buffer, (area.x, area.y), area.width, &[span(words, theme.of(Slot::Dim))]);
            return;
        }
        for (y, row) in self.scroll.rows().enumerate() {
            let row = &self.page.rows[row];
            let left = if row.wide { self.left } else { 0 };
            let line = shifted(&row.line, left);
            let y = area.y + y as u16;
            put(buffer, (area.x, y), area.width.saturating_sub(1), &line.spans);
        }
        let bottom = area.bottom().saturating_sub(1);
        let caption = vec![span(self.caption(view), theme.of(Slot::Faint))];
        put(buffer, (area.x, bottom), area.width, &caption);
        let body = Rect { height: area.height.saturating_sub(1), ..area };
        scrollbar(buffer, body, self.scroll.bar(), theme.of(Slot::Faint));
    }
}

/// A line without its first cells; a wide character that is cut in two becomes a space.
fn shifted(line: &Line<'static>, mut cells: usize) -> Line<'static> {
    if cells == 0 {
        return line.clone();
    }
    let mut spans = Vec::new();
    for part in &line.spans {
        let mut rest = String::new();
        for c in part.content.chars() {
            let wide = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
            if cells == 0 {
                rest.push(c);
            } else if wide > cells {
                cells = 0;
                rest.push(' ');
            } else {
                cells -= wide;
            }
        }
        if !rest.is_empty() {
            spans.push(span(rest, part.style));
        }
    }
    Line::from(spans)
}
