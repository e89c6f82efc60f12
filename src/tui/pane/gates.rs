//! The gates of each phase: claim, numbers, margin, what was seen killed, and what changed.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::item::verdict_look;
use super::list::List;
use super::pane::Pane;
use crate::base::{GateId, plural};
use crate::pipeline::{gate, needs};
use crate::runtime::Request;
use crate::session::{Judged, Metric, MutantJudged, Phase, State};
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::slot::Slot;
use crate::tui::theme::Theme;
use crate::tui::view::View;
use crate::tui::widget::{Prefix, cut, one_line, pad_left, pad_right, span, width, wrap};

#[derive(Default)]
pub(crate) struct Gates {
    list: List,
    /// Until a person moves, the selection is the gate judged last.
    moved: bool,
}

impl Gates {
    pub(crate) fn new() -> Self {
        Self::default()
    }
}

/// All gates in the order of the phases that need them.
fn asked() -> impl Iterator<Item = (Phase, &'static str)> {
    Phase::ALL.into_iter().flat_map(|phase| needs(phase).iter().map(move |id| (phase, *id)))
}

/// The judgements of this gate for this phase, oldest first.
fn judged<'a>(
    state: &'a State,
    phase: Phase,
    id: &'a str,
) -> impl DoubleEndedIterator<Item = &'a Judged> {
    let judgements = state.judgements.iter().map(|(_, judged)| judged);
    judgements.filter(move |judged| judged.phase == phase && judged.gate.as_str() == id)
}

impl Pane for Gates {
    fn title(&self) -> &'static str {
        "Gates"
    }

    fn badge(&self, view: &View<'_>) -> Option<String> {
        let all = asked().count();
        let passed = asked()
            .filter(|(phase, id)| {
                judged(view.state, *phase, id).next_back().is_some_and(Judged::passed)
            })
            .count();
        (passed > 0).then(|| format!("{passed}/{all}"))
    }

    fn act(&mut self, action: Action, _view: &View<'_>) -> Option<Effect> {
        if action == Action::JudgeGate {
            let (_, id) = asked().nth(self.list.selected)?;
            return Some(Effect::Ask(Request::Judge(GateId::from(id))));
        }
        self.moved = true;
        self.list.act(action);
        None
    }

    fn fit(&mut self, area: Rect, view: &View<'_>) {
        if !self.moved
            && let Some((_, last)) = view.state.judgements.last()
        {
            let same = |(phase, id): (Phase, &str)| phase == last.phase && id == last.gate.as_str();
            self.list.select(asked().position(same).unwrap_or_default());
        }
        let cells = usize::from(area.width.saturating_sub(1));
        let mut rows: Vec<(Option<usize>, Line<'static>)> = Vec::new();
        let mut phase_before = None;
        let mut count = 0;
        for (at, (phase, id)) in asked().enumerate() {
            if phase_before.replace(phase) != Some(phase) {
                rows.push((None, heading(phase, view)));
            }
            let all: Vec<&Judged> = judged(view.state, phase, id).collect();
            let here = at == self.list.selected;
            rows.push((Some(at), row(id, all.last().copied(), here, view.theme, cells)));
            if here && self.list.is_open() {
                rows.extend(details(id, &all, view, cells).into_iter().map(|line| (None, line)));
            }
            count = at + 1;
        }
        self.list.fit(rows, count, usize::from(area.height));
    }

    fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) {
        self.list.draw(view, area, buffer);
    }
}

fn heading(phase: Phase, view: &View<'_>) -> Line<'static> {
    let here = view.state.phase == phase;
    let slot = if here { Slot::Heading } else { Slot::Dim };
    let mark = if here { "  ← now" } else { "" };
    Line::from(vec![
        span(format!("{} {}", phase.number(), phase.title()), view.theme.of(slot)),
        span(mark, view.theme.of(Slot::Accent)),
    ])
}

fn row(id: &str, last: Option<&Judged>, here: bool, theme: &Theme, cells: usize) -> Line<'static> {
    let arrow = span(if here { " ▸ " } else { "   " }, theme.of(Slot::Accent));
    let Some(last) = last else {
        let claim = gate(id).map_or("", |gate| gate.claim);
        let room = cells.saturating_sub(25);
        return Line::from(vec![
            arrow,
            span("○ ", theme.of(Slot::Faint)),
            span(pad_right(id, 11), theme.of(Slot::Dim)),
            span("         ", theme.of(Slot::Dim)),
            span(cut(claim, room), theme.of(Slot::Faint)),
        ]);
    };
    let (mark, slot) = verdict_look(last.verdict);
    // A margin of nothing is one of exactly as many as there must be.
    let margin = match last.margin {
        margin if !margin.is_finite() => "–".to_owned(),
        margin if margin.abs() < 5e-4 => "0".to_owned(),
        margin => format!("{margin:+.3}"),
    };
    let mut spans = vec![
        arrow,
        span(format!("{mark} "), theme.of(slot)),
        span(pad_right(id, 11), theme.of(Slot::Text)),
        span(pad_right(&last.verdict.to_string(), 8), theme.of(slot)),
        span(pad_left(&margin.replace('-', "−"), 8), theme.of(Slot::Dim)),
        span("  ", theme.of(Slot::Text)),
    ];
    let used: usize = spans.iter().map(|span| width(&span.content)).sum();
    let headline = cut(&one_line(&last.headline), cells.saturating_sub(used));
    spans.push(span(headline, theme.of(Slot::Text)));
    Line::from(spans)
}

fn details(id: &str, all: &[&Judged], view: &View<'_>, cells: usize) -> Vec<Line<'static>> {
    let theme = view.theme;
    let (dim, text) = (theme.of(Slot::Dim), theme.of(Slot::Text));
    let prefix = Prefix::indent(5);
    let last = all.last().copied();
    let claim = last.map_or_else(|| gate(id).map_or("", |gate| gate.claim), |last| &last.claim);
    let mut out = wrap(&[span("claim: ", dim), span(one_line(claim), text)], cells, &prefix);
    let Some(last) = last else {
        out.extend(wrap(&[span("not judged yet · J asks for it", dim)], cells, &prefix));
        return out;
    };
    if !last.metrics.is_empty() {
        let before = all.len().checked_sub(2).map(|at| all[at]);
        out.extend(metrics(&last.metrics, before, theme, cells));
    }
    out.extend(mutants(&last.mutants, theme, cells));
    for shown in &last.evidence {
        let words = format!("evidence: {} · {}", shown.kind, one_line(&shown.headline));
        out.extend(wrap(&[span(words, dim)], cells, &prefix));
    }
    let stale = match &view.state.snapshot {
        Some(now) if *now != last.snapshot => " (files have changed since)",
        _ => "",
    };
    let words = format!(
        "snapshot {}{stale} · receipt {} · judged {} · J judges it now",
        last.snapshot.short(),
        last.receipt.short(),
        plural(all.len(), "time"),
    );
    out.extend(wrap(&[span(words, dim)], cells, &prefix));
    out
}

fn metrics(
    metrics: &[Metric],
    before: Option<&Judged>,
    theme: &Theme,
    cells: usize,
) -> Vec<Line<'static>> {
    let dim = theme.of(Slot::Dim);
    let longest = metrics.iter().map(|metric| width(&metric.name)).max().unwrap_or_default();
    let names = longest.clamp(8, cells.saturating_sub(46).max(8));
    let bounds = metrics.iter().map(|metric| width(&metric.threshold)).max().unwrap_or_default();
    let bounds = bounds.clamp(9, 16);
    let head = format!(
        "       {}{}  {}{}",
        pad_right("metric", names),
        pad_left("measured", 12),
        pad_right("threshold", bounds),
        pad_left("margin", 9)
    );
    let mut out = vec![Line::from(span(head, dim))];
    for metric in metrics {
        let holds = metric.margin >= 0.0;
        let (mark, slot) = match (metric.hard, holds) {
            (true, true) => ("✓ ", Slot::Good),
            (true, false) => ("✗ ", Slot::Bad),
            (false, _) => ("· ", Slot::Dim),
        };
        let mut spans = vec![
            span("     ", dim),
            span(mark, theme.of(slot)),
            span(pad_right(&one_line(&metric.name), names), theme.of(Slot::Text)),
            span(pad_left(&number(metric.measured), 12), theme.of(Slot::Strong)),
            span(format!("  {}", pad_right(&one_line(&metric.threshold), bounds)), dim),
            span(pad_left(&number(metric.margin), 9), theme.of(slot)),
        ];
        spans.extend(difference(metric, before, theme));
        out.push(Line::from(spans));
    }
    out
}

/// What the same number was when the gate was judged before.
fn difference(metric: &Metric, before: Option<&Judged>, theme: &Theme) -> Option<Span<'static>> {
    let was = before?.metrics.iter().find(|was| was.name == metric.name)?;
    let same = (was.measured - metric.measured).abs() < f64::EPSILON;
    let words =
        if same { "  as before".to_owned() } else { format!("  was {}", number(was.measured)) };
    Some(span(words, theme.of(Slot::Faint)))
}

fn mutants(mutants: &[MutantJudged], theme: &Theme, cells: usize) -> Vec<Line<'static>> {
    let prefix = Prefix::indent(5);
    let dim = theme.of(Slot::Dim);
    if mutants.is_empty() {
        return wrap(&[span("mutants: none yet", dim)], cells, &prefix);
    }
    let killed = mutants.iter().filter(|mutant| mutant.killed == Some(true)).count();
    let applied = mutants.iter().filter(|mutant| mutant.killed.is_some()).count();
    let words = format!("mutants: {killed} of {applied} killed before this pass could count");
    let mut out = wrap(&[span(words, dim)], cells, &prefix);
    for mutant in mutants {
        let (mark, slot) = match mutant.killed {
            Some(true) => ("✓ killed  ", Slot::Good),
            Some(false) => ("✗ survived", Slot::Bad),
            None => ("· n/a     ", Slot::Dim),
        };
        let by = one_line(&mutant.by);
        let spans = [
            span(mark, theme.of(slot)),
            span(format!(" {}", one_line(&mutant.id)), theme.of(Slot::Text)),
            span(if by.is_empty() { String::new() } else { format!(" · {by}") }, dim),
        ];
        out.extend(wrap(&spans, cells, &Prefix::indent(7)));
    }
    out
}

/// Five figures that mean something, whatever the size.
fn number(value: f64) -> String {
    let size = value.abs();
    let text = match () {
        () if !value.is_finite() => "n/a".to_owned(),
        () if size == 0.0 => "0".to_owned(),
        () if (1e-3..1e5).contains(&size) => {
            let places = (4 - size.log10().floor() as i32).clamp(0, 7) as usize;
            let text = format!("{value:.places$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
        () => format!("{value:.2e}"),
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact_enough() {
        let check = |value: f64, expected: &str| assert_eq!(number(value), expected);
        check(0.998_731, "0.99873");
        check(1.0, "1");
        check(123_456.0, "1.23e5");
        check(12_345.6, "12346");
        check(-0.002, "−0.002");
        check(3.0e-7, "3.00e−7");
        check(f64::NAN, "n/a");
        check(0.0, "0");
    }
}
