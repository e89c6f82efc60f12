//! Rules, boxes, scroll bars, and the last look at every cell before it leaves.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::text::{cut, width};
use crate::base::clean;

pub(crate) fn fill(buffer: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buffer.area);
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            buffer[(x, y)].reset();
            buffer[(x, y)].set_style(style);
        }
    }
}

/// A thin line across.
pub(crate) fn rule(buffer: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buffer.area);
    if area.height == 0 {
        return;
    }
    for x in area.left()..area.right() {
        buffer[(x, area.y)].set_symbol("─").set_style(style);
    }
}

/// A box with a title in its upper edge; returns what is inside.
pub(crate) fn boxed(
    buffer: &mut Buffer,
    area: Rect,
    (title, title_style): (&str, Style),
    (text, edge): (Style, Style),
) -> Rect {
    let area = area.intersection(buffer.area);
    fill(buffer, area, text);
    if area.width < 4 || area.height < 3 {
        return area;
    }
    let (left, right) = (area.left(), area.right() - 1);
    let (top, bottom) = (area.top(), area.bottom() - 1);
    for x in left + 1..right {
        buffer[(x, top)].set_symbol("─").set_style(edge);
        buffer[(x, bottom)].set_symbol("─").set_style(edge);
    }
    for y in top + 1..bottom {
        buffer[(left, y)].set_symbol("│").set_style(edge);
        buffer[(right, y)].set_symbol("│").set_style(edge);
    }
    for (x, y, corner) in
        [(left, top, "╭"), (right, top, "╮"), (left, bottom, "╰"), (right, bottom, "╯")]
    {
        buffer[(x, y)].set_symbol(corner).set_style(edge);
    }
    if !title.is_empty() {
        let title = cut(&format!(" {title} "), usize::from(area.width.saturating_sub(4)));
        buffer.set_stringn(left + 2, top, &title, width(&title), title_style);
    }
    Rect::new(left + 2, top + 1, area.width.saturating_sub(4), area.height - 2)
}

/// Where `shown` rows from `at` on lie among `all`, at the right edge of `area`.
pub(crate) fn scrollbar(
    buffer: &mut Buffer,
    area: Rect,
    (at, shown, all): (usize, usize, usize),
    style: Style,
) {
    let height = usize::from(area.height);
    if all <= shown || height < 2 || area.width == 0 {
        return;
    }
    let size = (height * shown / all).clamp(1, height);
    let start = (height - size) * at.min(all - shown) / (all - shown);
    for row in start..start + size {
        let cell = (area.right() - 1, area.y + row as u16);
        if buffer.area.contains(cell.into()) {
            buffer[cell].set_symbol("▐").set_style(style);
        }
    }
}

/// No cell may carry what a terminal would act upon, whoever drew it.
pub(crate) fn scrub(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        if !symbol.is_ascii() || symbol.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            let safe = clean(symbol).replace(['\n', '\t'], " ");
            if safe != symbol {
                cell.set_symbol(&safe);
            }
        }
    }
}
