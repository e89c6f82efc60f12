//! Markdown as rows of cells: wrapped with hanging indents, tables that fit or scroll, task lists.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::markdown_table::Table;
use super::text::{lines, pad_right, span, width};
use super::wrap::{Prefix, wrap};
use crate::tui::slot::Slot;
use crate::tui::theme::Theme;

/// A rendered document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub rows: Vec<Row>,
    /// The outline: row, level from 1, and words of each heading.
    pub headings: Vec<(usize, usize, String)>,
    /// Cells of the widest row.
    pub widest: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub line: Line<'static>,
    /// It may be wider than the page: it moves when the page is scrolled sideways.
    pub wide: bool,
}

/// Renders for a page of `cells` cells. Nothing in `text` can act on the terminal.
pub(crate) fn render(text: &str, cells: usize, theme: &Theme) -> Page {
    let text = lines(text).join("\n");
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
    let mut writer = Writer::new(cells.max(8), theme);
    for event in Parser::new_ext(&text, options) {
        writer.take(event);
    }
    writer.flush();
    while writer.page.rows.last().is_some_and(|row| row.line.width() == 0) {
        writer.page.rows.pop();
    }
    writer.page
}

enum Container {
    Quote,
    List {
        next: Option<u64>,
        loose: bool,
    },
    Item {
        /// What stands before its first line; taken when that line is written.
        marker: Option<Vec<Span<'static>>>,
        indent: usize,
    },
}

struct Writer<'a> {
    theme: &'a Theme,
    cells: usize,
    page: Page,
    containers: Vec<Container>,
    styles: Vec<Style>,
    inline: Vec<Span<'static>>,
    heading: Option<HeadingLevel>,
    code: Option<(String, String)>,
    table: Option<Table>,
    link: Option<String>,
    html: bool,
}

impl<'a> Writer<'a> {
    fn new(cells: usize, theme: &'a Theme) -> Self {
        Self {
            theme,
            cells,
            page: Page::default(),
            containers: Vec::new(),
            styles: Vec::new(),
            inline: Vec::new(),
            heading: None,
            code: None,
            table: None,
            link: None,
            html: false,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                let style = self.style().patch(self.theme.of(Slot::Code));
                self.push(text.to_string(), style);
            }
            Event::Html(text) if self.html => self.text(&text),
            Event::Html(text) | Event::InlineHtml(text) => {
                if text.trim() == "<br>" || text.trim() == "<br/>" {
                    self.push("\n".to_owned(), self.style());
                } else {
                    self.push(text.to_string(), self.theme.of(Slot::Dim));
                }
            }
            Event::SoftBreak => self.push(" ".to_owned(), self.style()),
            Event::HardBreak => self.push("\n".to_owned(), self.style()),
            Event::Rule => {
                self.gap();
                let room = self.cells.saturating_sub(self.indent());
                let line = span("─".repeat(room), self.theme.of(Slot::Rule));
                self.row(vec![line], false);
            }
            Event::TaskListMarker(done) => self.mark(if done { 'x' } else { ' ' }),
            _ => (),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => {
                if let [.., Container::List { loose, .. }, Container::Item { .. }] =
                    self.containers.as_mut_slice()
                {
                    *loose = true;
                }
                self.gap();
            }
            Tag::Heading { level, .. } => {
                self.gap();
                self.heading = Some(level);
                self.styles.push(match level {
                    HeadingLevel::H1 | HeadingLevel::H2 => self.theme.of(Slot::Heading),
                    _ => self.theme.of(Slot::Title),
                });
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.gap();
                self.containers.push(Container::Quote);
                self.styles.push(self.theme.of(Slot::Quote));
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.gap();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::HtmlBlock => {
                self.gap();
                self.html = true;
                self.styles.push(self.theme.of(Slot::Dim));
            }
            Tag::List(next) => {
                self.flush();
                if !self.in_item() {
                    self.gap();
                }
                self.containers.push(Container::List { next, loose: false });
            }
            Tag::Item => self.item(),
            Tag::Table(aligned) => {
                self.flush();
                self.gap();
                self.table = Some(Table::new(aligned));
            }
            Tag::TableHead | Tag::TableRow => self.table.iter_mut().for_each(Table::row),
            Tag::Emphasis => self.add(Style::new().add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.add(Style::new().add_modifier(Modifier::BOLD)),
            Tag::Strikethrough => self.add(Style::new().add_modifier(Modifier::CROSSED_OUT)),
            Tag::Link { dest_url, .. } => {
                self.link = Some(dest_url.to_string());
                self.add(self.theme.of(Slot::Link));
            }
            Tag::Image { .. } => {
                self.add(self.theme.of(Slot::Dim));
                self.push("image: ".to_owned(), self.style());
            }
            _ => (),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.flush(),
            TagEnd::Heading(level) => {
                let words: String = self.inline.iter().map(|span| span.content.as_ref()).collect();
                self.page.headings.push((self.page.rows.len(), level as usize, words));
                self.flush();
                self.styles.pop();
                self.heading = None;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.containers.pop();
                self.styles.pop();
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::HtmlBlock => {
                self.flush();
                self.styles.pop();
                self.html = false;
            }
            TagEnd::List(_) | TagEnd::Item => {
                self.flush();
                self.containers.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                self.table.iter_mut().for_each(|table| table.cell(cell.clone()));
            }
            TagEnd::Table => self.write_table(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Image => {
                self.styles.pop();
            }
            TagEnd::Link => {
                self.styles.pop();
                let target = self.link.take().unwrap_or_default();
                let shown = self.inline.last().is_some_and(|last| last.content == target);
                if target.starts_with("http") && !shown {
                    self.push(format!(" ({target})"), self.theme.of(Slot::Dim));
                }
            }
            _ => (),
        }
    }

    fn text(&mut self, text: &str) {
        match &mut self.code {
            Some((_, code)) => code.push_str(text),
            None => self.push(text.to_owned(), self.style()),
        }
    }

    fn item(&mut self) {
        self.flush();
        let bullet = self.theme.of(Slot::Dim);
        let mut loose_now = false;
        let mut marker = "• ".to_owned();
        if let Some(Container::List { next, loose }) = self.containers.last_mut() {
            loose_now = *loose;
            if let Some(number) = next {
                marker = format!("{number}. ");
                *number += 1;
            }
        }
        if loose_now {
            self.gap();
        }
        let indent = width(&marker);
        self.containers.push(Container::Item { marker: Some(vec![span(marker, bullet)]), indent });
    }

    /// Puts a check mark in the place of the bullet.
    fn mark(&mut self, mark: char) {
        let (text, slot) = match mark {
            'x' | 'X' | '✓' | '✔' => ("✓ ".to_owned(), Slot::Good),
            ' ' => ("○ ".to_owned(), Slot::Dim),
            '⚠' | '!' => ("▲ ".to_owned(), Slot::Warn),
            '✗' | '✘' => ("✗ ".to_owned(), Slot::Bad),
            '-' | '~' => ("– ".to_owned(), Slot::Dim),
            other => (format!("[{other}] "), Slot::Warn),
        };
        let style = self.theme.of(slot);
        if let Some(Container::Item { marker: Some(marker), indent }) = self.containers.last_mut() {
            *indent = width(&text);
            *marker = vec![span(text, style)];
        }
    }

    /// `[⚠] text`: a check mark that Markdown itself does not know.
    fn own_mark(&mut self) {
        let starts =
            matches!(self.containers.last(), Some(Container::Item { marker: Some(_), .. }));
        if !starts || !self.inline.first().is_some_and(|first| first.content.starts_with('[')) {
            return;
        }
        let start: String = self.inline.iter().flat_map(|s| s.content.chars()).take(4).collect();
        let chars: Vec<char> = start.chars().collect();
        let ['[', mark, ']', ' '] = chars[..] else { return };
        let mut drop = 4;
        for part in &mut self.inline {
            let keep: String = part.content.chars().skip(drop).collect();
            drop = drop.saturating_sub(part.content.chars().count());
            part.content = keep.into();
        }
        self.mark(mark);
    }

    /// Writes what was gathered as one wrapped paragraph.
    fn flush(&mut self) {
        if self.inline.is_empty() {
            return;
        }
        self.own_mark();
        let inline = std::mem::take(&mut self.inline);
        let prefix = self.prefix();
        for line in wrap(&inline, self.cells, &prefix) {
            self.page.widest = self.page.widest.max(line.width());
            self.page.rows.push(Row { line, wide: false });
        }
        if self.heading == Some(HeadingLevel::H1) {
            let room = self.cells.saturating_sub(self.indent());
            let longest = inline.iter().map(|span| width(&span.content)).sum::<usize>().min(room);
            self.row(vec![span("━".repeat(longest), self.theme.of(Slot::Rule))], false);
        }
    }

    fn code_block(&mut self) {
        let Some((_, code)) = self.code.take() else { return };
        let style = self.theme.of(Slot::CodeBlock);
        let room = self.cells.saturating_sub(self.indent() + 2);
        for line in code.trim_end_matches('\n').split('\n') {
            let padded = if width(line) < room { pad_right(line, room) } else { line.to_owned() };
            self.row(vec![span(format!(" {padded} "), style)], true);
        }
    }

    fn write_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let room = self.cells.saturating_sub(self.indent());
        for line in table.rows(room, self.theme) {
            self.row(line, true);
        }
    }

    /// An empty row before a block, unless the block begins the page or an item.
    fn gap(&mut self) {
        self.flush();
        let begins = self
            .containers
            .iter()
            .any(|container| matches!(container, Container::Item { marker: Some(_), .. }));
        let last = self.page.rows.last();
        if !begins && last.is_some_and(|row| !row.line.to_string().trim().is_empty()) {
            let prefix = self.prefix().rest;
            self.page.rows.push(Row { line: Line::from(prefix), wide: false });
        }
    }

    fn row(&mut self, spans: Vec<Span<'static>>, wide: bool) {
        let mut line = self.prefix().first;
        line.extend(spans);
        let line = Line::from(line);
        self.page.widest = self.page.widest.max(line.width());
        self.page.rows.push(Row { line, wide });
    }

    /// What stands before the next lines; the markers of items are taken with it.
    fn prefix(&mut self) -> Prefix {
        let bar = span("▎ ", self.theme.of(Slot::Rule));
        let mut prefix = Prefix::default();
        for container in &mut self.containers {
            match container {
                Container::Quote => {
                    prefix.first.push(bar.clone());
                    prefix.rest.push(bar.clone());
                }
                Container::List { .. } => (),
                Container::Item { marker, indent } => {
                    let blank = Span::raw(" ".repeat(*indent));
                    prefix.first.extend(marker.take().unwrap_or_else(|| vec![blank.clone()]));
                    prefix.rest.push(blank);
                }
            }
        }
        prefix
    }

    fn indent(&self) -> usize {
        let cells = |container: &Container| match container {
            Container::Quote => 2,
            Container::List { .. } => 0,
            Container::Item { indent, .. } => *indent,
        };
        self.containers.iter().map(cells).sum()
    }

    fn in_item(&self) -> bool {
        matches!(self.containers.last(), Some(Container::Item { .. }))
    }

    fn style(&self) -> Style {
        self.styles.iter().fold(self.theme.of(Slot::Agent), |sum, style| sum.patch(*style))
    }

    fn add(&mut self, style: Style) {
        self.styles.push(style);
    }

    fn push(&mut self, text: String, style: Style) {
        self.inline.push(span(text, style));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, cells: usize) -> String {
        let page = render(text, cells, &Theme::default());
        let rows = page.rows.iter().map(|row| row.line.to_string().trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n")
    }

    fn check(text: &str, cells: usize, expected: &str) {
        assert_eq!(shown(text, cells), expected, "{text}");
    }

    #[test]
    fn lists_hang() {
        check("- one two three\n- four", 9, "• one two\n  three\n• four");
        check("1. a\n2. b\n   - c d e f", 8, "1. a\n2. b\n   • c d\n     e f");
        check("- a\n\n- b", 9, "• a\n\n• b");
    }

    #[test]
    fn tasks_have_their_marks() {
        let text = "- [x] done\n- [ ] open\n- [⚠] a warning that is long\n- [⚠\u{fe0f}] too";
        check(text, 14, "✓ done\n○ open\n▲ a warning\n  that is long\n▲ too");
    }

    #[test]
    fn blocks_are_parted_by_one_row() {
        check("# T\ntext\n\n> q\n> r\n\nend", 20, "T\n━\n\ntext\n\n▎ q r\n\nend");
        check("a\n\n```rust\nlet x = 1;\n```\nb", 20, "a\n\n let x = 1;\n\nb");
    }

    #[test]
    fn nothing_acts_on_the_terminal() {
        let page = shown("a\x1b]0;t\x07b `c\u{9b}2J` \u{202e}d", 40);
        assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "{page:?}");
        assert!(page.contains("a␛]0;t␇b"), "{page}");
    }

    #[test]
    fn the_outline_points_at_rows() {
        let page = render("# A\n\ntext\n\n## B *c*\n", 30, &Theme::default());
        assert_eq!(page.headings, [(0, 1, "A".to_owned()), (5, 2, "B c".to_owned())]);
        assert_eq!(page.rows[5].line.to_string(), "B c");
    }
}
