//! Text as cells: made safe, measured, cut, padded, and numbers as people read them.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::Span;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::base::clean;

/// Cells that a text takes. Counted by grapheme, as the cell buffer counts.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Text that cannot act on the terminal. The selector of picture forms goes too: terminals do not
/// agree how wide it makes a character.
fn safe(text: &str) -> String {
    let safe = clean(text);
    if safe.contains('\u{fe0f}') { safe.replace('\u{fe0f}', "") } else { safe }
}

/// Safe text in one line: breaks and tabs become spaces.
pub(crate) fn one_line(text: &str) -> String {
    let safe = safe(text);
    if safe.contains(['\n', '\t']) { safe.replace(['\n', '\t'], " ") } else { safe }
}

/// Safe text line by line, with tabs at every fourth cell.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    safe(&text).lines().map(expand).collect()
}

fn expand(line: &str) -> String {
    if !line.contains('\t') {
        return line.to_owned();
    }
    let mut out = String::new();
    for part in line.split_inclusive('\t') {
        let text = part.trim_end_matches('\t');
        out.push_str(text);
        if text.len() < part.len() {
            let to = 4 - width(&out) % 4;
            out.extend(std::iter::repeat_n(' ', to));
        }
    }
    out
}

/// At most `most` cells; an ellipsis tells that there was more.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        let wide = grapheme.width();
        if used + wide + 1 > most {
            break;
        }
        used += wide;
        out.push_str(grapheme);
    }
    if most > 0 {
        out.push('…');
    }
    out
}

/// Exactly `cells` wide, the text at the left.
pub(crate) fn pad_right(text: &str, cells: usize) -> String {
    let mut out = cut(text, cells);
    out.extend(std::iter::repeat_n(' ', cells.saturating_sub(width(&out))));
    out
}

/// Exactly `cells` wide, the text at the right.
pub(crate) fn pad_left(text: &str, cells: usize) -> String {
    let text = cut(text, cells);
    let mut out = " ".repeat(cells.saturating_sub(width(&text)));
    out.push_str(&text);
    out
}

/// Writes spans from `x` on, at most `most` cells; returns the cell after the last one.
pub(crate) fn put(buffer: &mut Buffer, (x, y): (u16, u16), most: u16, spans: &[Span<'_>]) -> u16 {
    if !buffer.area.contains((x, y).into()) {
        return x;
    }
    let most = most.min(buffer.area.right().saturating_sub(x));
    let mut at = x;
    for span in spans {
        let left = most.saturating_sub(at - x);
        if left == 0 {
            break;
        }
        at = buffer.set_stringn(at, y, &span.content, usize::from(left), span.style).0;
    }
    at
}

/// A time as people read it: `412 µs`, `38.2 ms`, `1.84 s`.
pub(crate) fn micros(us: f64) -> String {
    match us.abs() {
        _ if !us.is_finite() => "n/a".to_owned(),
        size if size < 999.5 => format!("{us:.0} µs"),
        size if size < 99_950.0 => format!("{:.1} ms", us / 1e3),
        size if size < 999_500.0 => format!("{:.0} ms", us / 1e3),
        _ => format!("{:.2} s", us / 1e6),
    }
}

/// How long something takes: `8s`, `12m`, `2h 05m`.
pub(crate) fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// A span of one style; spares panes a type name on each line.
pub(crate) fn span(text: impl Into<String>, style: Style) -> Span<'static> {
    Span::styled(text.into(), style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_counted_and_never_split() {
        assert_eq!(cut("가나다", 5), "가나…");
        assert_eq!(cut("가나다", 6), "가나다");
        assert_eq!(cut("가나다", 4), "가…");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(width(&pad_left("가", 5)), 5);
        assert_eq!(pad_right("ab", 4), "ab  ");
    }

    #[test]
    fn nothing_that_acts_on_a_terminal_is_left() {
        assert_eq!(one_line("a\x1b[2Jb\nc"), "a␛[2Jb c");
        assert_eq!(lines("a\tb\r\nc\u{9b}x"), ["a   b", "c\u{fffd}x"]);
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(micros(412.4), "412 µs");
        assert_eq!(micros(38_210.0), "38.2 ms");
        assert_eq!(micros(184_000.0), "184 ms");
        assert_eq!(micros(1_840_000.0), "1.84 s");
        assert_eq!(micros(f64::NAN), "n/a");
        assert_eq!(elapsed(Duration::from_mins(125)), "2h 05m");
    }
}
