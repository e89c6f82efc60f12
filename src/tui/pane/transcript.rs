//! The transcript: what was said, called, judged, and what is being said now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::item::{Seen, lines_of};
use super::pane::Pane;
use super::scroll::Scroll;
use crate::session::Item;
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::slot::Slot;
use crate::tui::view::View;
use crate::tui::widget::{Prefix, put, render, scrollbar, span, wrap};

pub(crate) struct Conversation {
    scroll: Scroll,
    blocks: Vec<Block>,
    /// The end of each block, in rows.
    ends: Vec<usize>,
    /// The reply that is being said.
    draft: Vec<Line<'static>>,
    /// What the blocks were laid out for.
    made_for: (usize, String),
    /// The block that has the mark, and the blocks that are open.
    selected: Option<usize>,
    open: std::collections::BTreeSet<usize>,
}

struct Block {
    seen: Seen,
    lines: Vec<Line<'static>>,
}

impl Conversation {
    pub(crate) fn new() -> Self {
        Self {
            scroll: Scroll::following(),
            blocks: Vec::new(),
            ends: Vec::new(),
            draft: Vec::new(),
            made_for: (0, String::new()),
            selected: None,
            open: std::collections::BTreeSet::new(),
        }
    }

    fn first_row(&self, block: usize) -> usize {
        block.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    fn block_at(&self, row: usize) -> usize {
        self.ends.partition_point(|end| *end <= row)
    }

    fn select(&mut self, action: Action, view: &View<'_>) {
        let opens = |at: &usize| {
            let shows = self.blocks.get(*at).is_some_and(|block| !block.lines.is_empty());
            let item = view.state.transcript.items.get(*at);
            shows && item.is_some_and(|(_, item)| can_open(item))
        };
        let from = self.selected.unwrap_or_else(|| {
            let bottom = (self.scroll.at + self.scroll.height).min(self.scroll.total);
            self.block_at(bottom)
        });
        let next = match action {
            Action::NextSection => (from + 1..self.blocks.len()).find(opens),
            _ => (0..from.min(self.blocks.len())).rev().find(opens),
        };
        if let Some(next) = next {
            self.selected = Some(next);
            self.show(next);
        }
    }

    fn show(&mut self, block: usize) {
        if block >= self.ends.len() {
            return;
        }
        let (first, end) = (self.first_row(block), self.ends[block]);
        self.scroll.follows = false;
        self.scroll.show(end.saturating_sub(1));
        self.scroll.show(first);
    }

    fn draft(view: &View<'_>, cells: usize) -> Vec<Line<'static>> {
        let theme = view.theme;
        let mut lines = Vec::new();
        if view.drafts.saying.trim().is_empty() {
            return lines;
        }
        lines.push(Line::default());
        lines
            .extend(render(&view.drafts.saying, cells, theme).rows.into_iter().map(|row| row.line));
        if let Some(last) = lines.last_mut() {
            last.spans.push(span("▌", theme.of(Slot::Busy)));
        }
        lines
    }
}

fn can_open(item: &Item) -> bool {
    matches!(item, Item::Call(_) | Item::Judged { .. } | Item::Note { .. } | Item::Skill { .. })
}

impl Pane for Conversation {
    fn title(&self) -> &'static str {
        "Talk"
    }

    fn act(&mut self, action: Action, view: &View<'_>) -> Option<Effect> {
        match action {
            Action::NextSection | Action::PreviousSection => self.select(action, view),
            Action::Open => {
                if let Some(at) = self.selected
                    && !self.open.remove(&at)
                {
                    self.open.insert(at);
                }
            }
            Action::Bottom => {
                self.selected = None;
                self.scroll.act(action);
            }
            _ => {
                self.scroll.act(action);
            }
        }
        None
    }

    fn fit(&mut self, area: Rect, view: &View<'_>) {
        let cells = usize::from(area.width.saturating_sub(2));
        let made_for = (cells, view.theme.name.clone());
        if self.made_for != made_for {
            self.blocks.clear();
            self.made_for = made_for;
        }
        let items = &view.state.transcript.items;
        self.blocks.truncate(items.len());
        let mut before: Option<&Item> = None;
        let mut changed = self.ends.len().min(self.blocks.len());
        for (at, (_, item)) in items.iter().enumerate() {
            let seen = Seen::of(item, view, self.open.contains(&at));
            if self.blocks.get(at).is_none_or(|block| block.seen != seen) {
                let lines = lines_of(item, before, &seen, view, cells);
                let block = Block { seen, lines };
                match self.blocks.get_mut(at) {
                    Some(place) => *place = block,
                    None => self.blocks.push(block),
                }
                changed = changed.min(at);
            }
            before = Some(item);
        }
        self.ends.truncate(changed);
        for block in &self.blocks[changed..] {
            let last = self.ends.last().copied().unwrap_or_default();
            self.ends.push(last + block.lines.len());
        }
        self.draft = Self::draft(view, cells);
        let total = self.ends.last().copied().unwrap_or_default() + self.draft.len();
        self.scroll.fit(total, usize::from(area.height));
        self.selected = self.selected.filter(|at| *at < self.blocks.len());
    }

    fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) {
        let theme = view.theme;
        if self.scroll.total == 0 {
            let words = "nothing has been said yet: write below what should be done";
            let lines = wrap(
                &[span(words, theme.of(Slot::Dim))],
                usize::from(area.width.saturating_sub(2)),
                &Prefix::default(),
            );
            for (y, line) in lines.iter().enumerate() {
                put(buffer, (area.x + 1, area.y + y as u16), area.width, &line.spans);
            }
            return;
        }
        let drafted = self.ends.last().copied().unwrap_or_default();
        let mut block = self.block_at(self.scroll.at);
        for (y, row) in self.scroll.rows().enumerate() {
            let y = area.y + y as u16;
            while self.ends.get(block).is_some_and(|end| *end <= row) {
                block += 1;
            }
            let (line, marked): (&Line<'static>, bool) = if row >= drafted {
                (&self.draft[row - drafted], false)
            } else {
                let line = &self.blocks[block].lines[row - self.first_row(block)];
                (line, view.focused && self.selected == Some(block))
            };
            if marked {
                let bar = if line.spans.is_empty() { " " } else { "▎" };
                put(buffer, (area.x, y), 1, &[span(bar, theme.of(Slot::Accent))]);
            }
            put(buffer, (area.x + 1, y), area.width.saturating_sub(2), &line.spans);
        }
        scrollbar(buffer, area, self.scroll.bar(), theme.of(Slot::Faint));
        if !self.scroll.follows && self.scroll.at + self.scroll.height < self.scroll.total {
            let below = self.scroll.total - self.scroll.at - self.scroll.height;
            let words = format!(" ↓ {below} more · G ");
            let cells = words.chars().count() as u16;
            let at = (area.right().saturating_sub(cells + 2), area.bottom().saturating_sub(1));
            let spans: [Span<'_>; 1] = [span(words, theme.of(Slot::Selected))];
            put(buffer, at, cells, &spans);
        }
    }
}
