//! Horizontal bars that are true to an eighth of a cell.

use ratatui::style::Style;
use ratatui::text::Span;

use super::text::span;

/// One part of a stacked bar. The shape tells parts apart where colour cannot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub value: f64,
    pub style: Style,
    pub shape: &'static str,
}

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar for `value` of `most`, exactly `cells` wide. What is no number is an empty bar.
pub(crate) fn meter(
    value: f64,
    most: f64,
    cells: usize,
    on: Style,
    off: Style,
) -> Vec<Span<'static>> {
    let eighths = (share(value, most) * cells as f64 * 8.0).round() as usize;
    let (whole, part) = (eighths / 8, eighths % 8);
    let mut bar = "█".repeat(whole);
    bar.push_str(EIGHTHS[part]);
    let rest = cells - whole - usize::from(part > 0);
    vec![span(bar, on), span("·".repeat(rest), off)]
}

/// Parts side by side, `most` being the whole width; the cells add up to the sum of the parts.
pub(crate) fn stacked(
    parts: &[Part],
    most: f64,
    cells: usize,
    coloured: Shape,
) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let (mut sum, mut used) = (0.0, 0);
    for part in parts {
        sum += if part.value.is_finite() { part.value.max(0.0) } else { 0.0 };
        let upto = (share(sum, most) * cells as f64).round() as usize;
        if upto > used {
            let shape = if coloured == Shape::Solid { "█" } else { part.shape };
            spans.push(span(shape.repeat(upto - used), part.style));
            used = upto;
        }
    }
    spans.push(span(" ".repeat(cells.saturating_sub(used)), Style::default()));
    spans
}

/// Whether colours tell the parts of a bar apart, or their shapes must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Solid,
    Shaded,
}

fn share(value: f64, most: f64) -> f64 {
    let share = value / most;
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(spans: &[Span<'_>]) -> String {
        spans.iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn bars_have_their_width_whatever_the_numbers() {
        let numbers = [0.0, 1.0, 3.3, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300];
        for value in numbers {
            for most in numbers {
                let bar = text(&meter(value, most, 10, Style::new(), Style::new()));
                assert_eq!(bar.chars().count(), 10, "{value} of {most}");
                let part = Part { value, style: Style::new(), shape: "▒" };
                let bar = text(&stacked(&[part, part], most, 10, Shape::Shaded));
                assert_eq!(bar.chars().count(), 10, "{value} twice of {most}");
            }
        }
        assert_eq!(text(&meter(0.55, 1.0, 4, Style::new(), Style::new())), "██▎·");
    }
}
