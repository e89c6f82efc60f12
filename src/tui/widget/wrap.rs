//! Wrapping of styled text, at words where possible.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::text::width;

/// What stands before the first line, and before those that follow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefix {
    pub first: Vec<Span<'static>>,
    pub rest: Vec<Span<'static>>,
}

impl Prefix {
    pub(crate) fn indent(cells: usize) -> Self {
        let spaces = vec![Span::raw(" ".repeat(cells))];
        Self { first: spaces.clone(), rest: spaces }
    }

    fn width(spans: &[Span<'static>]) -> usize {
        spans.iter().map(|span| width(&span.content)).sum()
    }
}

/// A piece that is not broken unless it is longer than a line.
struct Word<'a> {
    parts: Vec<(&'a str, Style)>,
    cells: usize,
    /// Cells of white space before it.
    space: usize,
    space_style: Style,
}

/// Lines of at most `cells` cells. A line feed within the spans begins a new line.
pub(crate) fn wrap(spans: &[Span<'_>], cells: usize, prefix: &Prefix) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut line = prefix.first.clone();
    let room = |first: bool| {
        let before = if first { &prefix.first } else { &prefix.rest };
        cells.saturating_sub(Prefix::width(before)).max(1)
    };
    let mut used = 0;
    for paragraph in paragraphs(spans) {
        let Some(words) = paragraph else {
            lines.push(Line::from(std::mem::replace(&mut line, prefix.rest.clone())));
            used = 0;
            continue;
        };
        for word in words {
            let most = room(lines.is_empty());
            let space = if used == 0 { 0 } else { word.space };
            if used > 0 && used + space + word.cells > most {
                lines.push(Line::from(std::mem::replace(&mut line, prefix.rest.clone())));
                used = 0;
            } else if space > 0 {
                push(&mut line, &" ".repeat(space), word.space_style);
                used += space;
            }
            for (text, style) in word.parts {
                for grapheme in text.graphemes(true) {
                    let wide = grapheme.width();
                    if used > 0 && used + wide > room(lines.is_empty()) {
                        lines.push(Line::from(std::mem::replace(&mut line, prefix.rest.clone())));
                        used = 0;
                    }
                    push(&mut line, grapheme, style);
                    used += wide;
                }
            }
        }
    }
    lines.push(Line::from(line));
    lines
}

/// The words of each line of the text, with `None` where a line feed stands.
fn paragraphs<'a>(spans: &'a [Span<'_>]) -> Vec<Option<Vec<Word<'a>>>> {
    let mut out: Vec<Option<Vec<Word<'a>>>> = Vec::new();
    let mut words: Vec<Word<'a>> = Vec::new();
    let mut space = 0;
    let mut open = false;
    for span in spans {
        let mut rest: &'a str = &span.content;
        while let Some(first) = rest.chars().next() {
            let end = match first {
                '\n' => 1,
                ' ' => rest.len() - rest.trim_start_matches(' ').len(),
                _ => rest.find([' ', '\n']).unwrap_or(rest.len()),
            };
            let (piece, after) = rest.split_at(end);
            rest = after;
            match first {
                '\n' => {
                    out.push(Some(std::mem::take(&mut words)));
                    out.push(None);
                    (space, open) = (0, false);
                }
                ' ' => {
                    space += piece.len();
                    open = false;
                }
                _ => {
                    for chunk in chunks(piece) {
                        let cells = width(chunk);
                        let breakable = chunk.chars().next().is_some_and(is_wide);
                        match words.last_mut() {
                            Some(word) if open && !breakable => {
                                word.parts.push((chunk, span.style));
                                word.cells += cells;
                            }
                            _ => words.push(Word {
                                parts: vec![(chunk, span.style)],
                                cells,
                                space,
                                space_style: span.style,
                            }),
                        }
                        (space, open) = (0, !breakable);
                    }
                }
            }
        }
    }
    out.push(Some(words));
    out
}

/// Runs of narrow text, and wide characters one by one: those may be parted anywhere.
fn chunks(piece: &str) -> Vec<&str> {
    if piece.is_ascii() {
        return vec![piece];
    }
    let mut out = Vec::new();
    let mut start = 0;
    for (at, grapheme) in piece.grapheme_indices(true) {
        if grapheme.chars().next().is_some_and(is_wide) {
            if start < at {
                out.push(&piece[start..at]);
            }
            out.push(&piece[at..at + grapheme.len()]);
            start = at + grapheme.len();
        }
    }
    if start < piece.len() {
        out.push(&piece[start..]);
    }
    out
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}'
        | '\u{20000}'..='\u{3fffd}')
}

fn push(line: &mut Vec<Span<'static>>, text: &str, style: Style) {
    match line.last_mut() {
        Some(last) if last.style == style => last.content.to_mut().push_str(text),
        _ => line.push(Span::styled(text.to_owned(), style)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, cells: usize, expected: &[&str]) {
        let lines = wrap(&[Span::raw(text)], cells, &Prefix::default());
        let shown: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(shown, expected, "{text:?} in {cells}");
        assert!(lines.iter().all(|line| width(&line.to_string()) <= cells.max(2)));
    }

    #[test]
    fn words_stay_whole_where_they_fit() {
        check("one two three", 7, &["one two", "three"]);
        check("one two three", 100, &["one two three"]);
        check("abcdefgh ij", 4, &["abcd", "efgh", "ij"]);
        check("a\n\nb", 9, &["a", "", "b"]);
        check("", 9, &[""]);
        check("a   b", 9, &["a   b"]);
        check("가나다라 마", 5, &["가나", "다라", "마"]);
        check("x가나", 3, &["x가", "나"]);
    }

    #[test]
    fn a_word_of_many_styles_is_one_word() {
        let bold = Style::new().bold();
        let spans = [Span::raw("say "), Span::styled("hel", bold), Span::raw("lo")];
        let lines = wrap(&spans, 6, &Prefix::default());
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1].to_string(), "hello");
    }

    #[test]
    fn prefixes_count() {
        let prefix = Prefix { first: vec![Span::raw("• ")], rest: vec![Span::raw("  ")] };
        let lines = wrap(&[Span::raw("one two three")], 7, &prefix);
        let shown: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["• one", "  two", "  three"]);
    }
}
