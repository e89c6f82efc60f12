//! The first rows of the screen: what is deployed, how far it is, how far the agent may go alone.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::slot::Slot;
use super::spot::{Spot, Spotted};
use super::view::View;
use super::widget::{cut, elapsed, one_line, put, span, width};
use crate::runtime::Outcome;
use crate::session::{Autonomy, Judged, Phase, State};

type Spans = Vec<Span<'static>>;

/// Draws one row where it is wide and two where it is narrow; tells where the slider's stops are.
pub(super) fn head(view: &View<'_>, area: Rect, buffer: &mut Buffer) -> Vec<Spotted> {
    let (rail, slider, told) = (rail(view), slider(view), told(view));
    let (rail_cells, slider_cells) = (cells(&rail), cells(&slider));
    let room = area.width.saturating_sub(1);
    let told_at = |y: u16, buffer: &mut Buffer, used: u16| {
        let at = area.right().saturating_sub(cells(&told) + 1);
        if at > used {
            put(buffer, (at, y), area.width, &told);
        }
    };
    let (slider_at, slider_y) = if area.height > 1 {
        let named = title(view, usize::from(room.saturating_sub(rail_cells + 4)));
        put(buffer, (area.x + 1, area.y), room, &named);
        put(buffer, (area.right().saturating_sub(rail_cells + 1), area.y), room, &rail);
        (area.x + 1, area.y + 1)
    } else {
        let others = rail_cells + slider_cells + cells(&told) + 12;
        let named = title(view, usize::from(area.width.saturating_sub(others)));
        let end = put(buffer, (area.x + 1, area.y), room, &named);
        let end = put(buffer, (end + 3, area.y), room, &rail);
        (end + 3, area.y)
    };
    let end = put(buffer, (slider_at, slider_y), room, &slider);
    told_at(slider_y, buffer, end);
    stops(slider_at, slider_y)
}

fn cells(spans: &[Span<'_>]) -> u16 {
    spans.iter().map(|span| width(&span.content)).sum::<usize>() as u16
}

fn title(view: &View<'_>, most: usize) -> Spans {
    let (state, theme) = (view.state, view.theme);
    let what = format!("{} → {}", one_line(&state.model), one_line(&state.target));
    let name = "pilotfish";
    let room = most.saturating_sub(name.len() + 3);
    // The name of the program is the first that goes.
    if room < width(&what).min(16) {
        return vec![span(cut(&what, most), theme.of(Slot::Strong))];
    }
    vec![
        span(name, theme.of(Slot::Title)),
        span(" · ", theme.of(Slot::Faint)),
        span(cut(&what, room), theme.of(Slot::Strong)),
    ]
}

/// Each phase by its number, with a mark that tells without colour how it stands.
fn rail(view: &View<'_>) -> Spans {
    let (state, theme) = (view.state, view.theme);
    let mut spans = Vec::new();
    for phase in Phase::ALL {
        let (mark, slot) = mark(state, phase);
        let now = phase == state.phase;
        let number = theme.of(if now { Slot::Strong } else { Slot::Dim });
        spans.push(span(phase.number().to_string(), number));
        spans.push(span(mark, theme.of(slot)));
        spans.push(span(" ", theme.of(Slot::Text)));
    }
    spans.push(span(state.phase.title().to_lowercase(), theme.of(Slot::Text)));
    spans
}

fn mark(state: &State, phase: Phase) -> (&'static str, Slot) {
    let failed = || state.gates.values().any(Judged::failed);
    match phase.cmp(&state.phase) {
        Ordering::Less => ("✓", Slot::Good),
        Ordering::Greater => ("○", Slot::Faint),
        Ordering::Equal if Outcome::of(state) == Outcome::Passed => ("✓", Slot::Good),
        Ordering::Equal if state.blocker.is_some() => ("!", Slot::Warn),
        Ordering::Equal if failed() => ("✗", Slot::Bad),
        Ordering::Equal => ("●", Slot::Busy),
    }
}

const LEFT: &str = "◁ ";
const BETWEEN: &str = " │ ";

fn slider(view: &View<'_>) -> Spans {
    let theme = view.theme;
    let (edge, off) = (theme.of(Slot::Faint), theme.of(Slot::Dim));
    let mut spans = vec![span(LEFT, edge)];
    for (at, stop) in Autonomy::ALL.into_iter().enumerate() {
        if at > 0 {
            spans.push(span(BETWEEN, edge));
        }
        spans.push(if stop == view.state.autonomy {
            span(stop.name().to_uppercase(), theme.of(Slot::SliderOn))
        } else {
            span(stop.name(), off)
        });
    }
    spans.push(span(" ▷", edge));
    spans
}

fn stops(x: u16, y: u16) -> Vec<Spotted> {
    let mut at = x + width(LEFT) as u16;
    let mut spots = Vec::new();
    for stop in Autonomy::ALL {
        let cells = stop.name().len() as u16;
        spots.push((Rect::new(at, y, cells, 1), Spot::Stop(stop)));
        at += cells + width(BETWEEN) as u16;
    }
    spots
}

/// How long it has gone on, and how often a person had a hand in it.
fn told(view: &View<'_>) -> Spans {
    let (state, theme) = (view.state, view.theme);
    let now = if view.recorded { state.last } else { view.now };
    let time = if state.facts == 0 { Duration::ZERO } else { now.since(state.began) };
    let count = |kind| state.interventions.get(kind).copied().unwrap_or_default();
    let (approved, corrected) = (count("approve"), count("steer") + count("fix"));
    let mut words = elapsed(time);
    for (count, what) in [(approved, "approval"), (corrected, "correction")] {
        if count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            let _ = write!(words, " · {count} {what}{plural}");
        }
    }
    vec![span(words, theme.of(Slot::Dim))]
}
