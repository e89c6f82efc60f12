//! The optimisation trajectory: each step with its time, its gain, and where the time goes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::list::List;
use super::pane::Pane;
use crate::session::{Cost, Step, StepKind};
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::slot::Slot;
use crate::tui::theme::Theme;
use crate::tui::view::View;
use crate::tui::widget::{
    Part, Prefix, Shape, cut, micros, one_line, pad_left, pad_right, span, stacked, width, wrap,
};

#[derive(Default)]
pub(crate) struct Steps {
    list: List,
}

pub(crate) const STAGES: [&str; 2] = ["prefill", "decode"];

impl Steps {
    pub(crate) fn new() -> Self {
        Self::default()
    }
}

impl Pane for Steps {
    fn title(&self) -> &'static str {
        "Trajectory"
    }

    fn badge(&self, view: &View<'_>) -> Option<String> {
        let gain = |stage| {
            let trajectory = &view.state.trajectory;
            let first = trajectory.baseline(stage)?.profiled.cost.total_us();
            let best = trajectory.best(stage)?.profiled.cost.total_us();
            (best > 0.0 && first > best).then(|| first / best)
        };
        let best = STAGES.into_iter().filter_map(gain).max_by(f64::total_cmp)?;
        Some(format!("{best:.1}×"))
    }

    fn act(&mut self, action: Action, view: &View<'_>) -> Option<Effect> {
        if action == Action::EditDocument {
            return Some(Effect::EditDocument("perf_opt_traj.md".to_owned()));
        }
        if let (Action::Open, Some(step)) = (action, self.step(view))
            && self.list.is_open()
            && let Some(diff) = &step.profiled.diff
        {
            let title = one_line(&step.profiled.change);
            return Some(Effect::Show { title, artifact: diff.clone() });
        }
        self.list.act(action);
        None
    }

    fn fit(&mut self, area: Rect, view: &View<'_>) {
        let cells = usize::from(area.width.saturating_sub(1));
        let mut rows = Vec::new();
        let steps = &view.state.trajectory.steps;
        if steps.is_empty() {
            let words = "no program has been timed yet: the first time comes with the naive \
                         program, in phase 2";
            let words = [span(words, view.theme.of(Slot::Dim))];
            rows.extend(wrap(&words, cells, &Prefix::default()).into_iter().map(|l| (None, l)));
        }
        let mut number = 0;
        for stage in STAGES {
            let of_stage: Vec<&Step> = view.state.trajectory.stage(stage).collect();
            if of_stage.is_empty() {
                continue;
            }
            if !rows.is_empty() {
                rows.push((None, Line::default()));
            }
            rows.extend(heading(stage, view, cells).into_iter().map(|line| (None, line)));
            let most = of_stage.iter().map(|s| s.profiled.cost.total_us()).fold(0.0, f64::max);
            for step in of_stage {
                number += 1;
                let at = number - 1;
                let here = self.list.selected == at;
                rows.push((Some(at), row(step, number, most, here, view, cells)));
                if here && self.list.is_open() {
                    rows.extend(details(step, view.theme, cells).into_iter().map(|l| (None, l)));
                }
            }
        }
        self.list.fit(rows, number, usize::from(area.height));
    }

    fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) {
        self.list.draw(view, area, buffer);
    }
}

impl Steps {
    /// The selected step: the list counts them stage by stage.
    fn step<'a>(&self, view: &View<'a>) -> Option<&'a Step> {
        let trajectory = &view.state.trajectory;
        STAGES.into_iter().flat_map(|stage| trajectory.stage(stage)).nth(self.list.selected)
    }
}

fn heading(stage: &str, view: &View<'_>, cells: usize) -> Vec<Line<'static>> {
    let theme = view.theme;
    let trajectory = &view.state.trajectory;
    let mut spans = vec![span(format!("{stage}  "), theme.of(Slot::Heading))];
    let (Some(first), Some(best)) = (trajectory.baseline(stage), trajectory.best(stage)) else {
        return vec![Line::from(spans)];
    };
    let (from, to) = (first.profiled.cost.total_us(), best.profiled.cost.total_us());
    spans.push(span(micros(from), theme.of(Slot::Text)));
    if to < from {
        spans.push(span(format!(" → {}", micros(to)), theme.of(Slot::Strong)));
        spans.push(span(format!("  {:.2}× faster", from / to), theme.of(Slot::Good)));
    }
    let floor = best.profiled.floor_us;
    if floor > 0.0 {
        let share = 100.0 * floor / to;
        let words = format!("  floor {} ({share:.0} % of it)", micros(floor));
        spans.push(span(words, theme.of(Slot::Floor)));
    }
    let mut lines = wrap(&spans, cells, &Prefix::default());
    lines.push(legend(theme));
    lines
}

pub(super) fn legend(theme: &Theme) -> Line<'static> {
    let mut spans = Vec::new();
    for (name, slot, shape) in PARTS {
        let shape = if theme.has_colour() { "█" } else { shape };
        spans.push(span(format!("{shape} "), theme.of(slot)));
        spans.push(span(format!("{name}  "), theme.of(Slot::Dim)));
    }
    spans.push(span("┊ ", theme.of(Slot::Floor)));
    spans.push(span("floor", theme.of(Slot::Dim)));
    Line::from(spans)
}

/// The four parts of a time, each with a shape for screens without colour.
pub(super) const PARTS: [(&str, Slot, &str); 4] = [
    ("dispatch", Slot::Dispatch, "▒"),
    ("upload", Slot::Upload, "░"),
    ("tile", Slot::Tile, "█"),
    ("host", Slot::Host, "▓"),
];

pub(super) fn values(cost: &Cost) -> [f64; 4] {
    [cost.dispatch_us, cost.upload_us, cost.tile_us, cost.host_us]
}

pub(super) fn bar(
    values: [f64; 4],
    most: f64,
    cells: usize,
    theme: &Theme,
    floor: f64,
) -> Vec<Span<'static>> {
    let parts: Vec<Part> = PARTS
        .iter()
        .zip(values)
        .map(|((_, slot, shape), value)| Part { value, style: theme.of(*slot), shape })
        .collect();
    let shape = if theme.has_colour() { Shape::Solid } else { Shape::Shaded };
    let spans = stacked(&parts, most, cells, shape);
    let at = (floor / most * cells as f64).round();
    if !at.is_finite() || floor <= 0.0 || at as usize >= cells {
        return spans;
    }
    marked(spans, at as usize, theme)
}

/// The bar with the mark of the floor over one of its cells.
fn marked(spans: Vec<Span<'static>>, at: usize, theme: &Theme) -> Vec<Span<'static>> {
    let mut out = Vec::new();
    let mut cell = 0;
    for part in spans {
        let wide = width(&part.content);
        if at < cell || at >= cell + wide {
            out.push(part);
        } else {
            let text: Vec<char> = part.content.chars().collect();
            let (before, after) = (at - cell, &text[at - cell + 1..]);
            out.push(span(text[..before].iter().collect::<String>(), part.style));
            out.push(span("┊", theme.of(Slot::Floor)));
            out.push(span(after.iter().collect::<String>(), part.style));
        }
        cell += wide;
    }
    out
}

fn look(kind: StepKind) -> (&'static str, Slot, &'static str) {
    match kind {
        StepKind::Baseline => ("○", Slot::Dim, "naive program"),
        StepKind::Tried => ("…", Slot::Busy, "tried, not yet judged"),
        StepKind::Kept => ("✓", Slot::Good, "kept"),
        StepKind::Reverted => ("↶", Slot::Bad, "reverted"),
        StepKind::Rejected => ("⊘", Slot::Warn, "you said no"),
    }
}

fn row(
    step: &Step,
    number: usize,
    most: f64,
    here: bool,
    view: &View<'_>,
    cells: usize,
) -> Line<'static> {
    let theme = view.theme;
    let profiled = &step.profiled;
    let (mark, slot, _) = look(profiled.kind);
    let total = profiled.cost.total_us();
    let before = step.before.total_us();
    let gain = match profiled.kind {
        StepKind::Baseline => String::new(),
        _ if before > 0.0 => format!("{:+.1} %", 100.0 * (total - before) / before),
        _ => String::new(),
    }
    .replace('-', "−");
    let arrow = if here { "▸" } else { " " };
    let mut spans = vec![
        span(arrow, theme.of(Slot::Accent)),
        span(pad_left(&number.to_string(), 3), theme.of(Slot::Faint)),
        span(format!(" {mark} "), theme.of(slot)),
        span(pad_left(&micros(total), 9), theme.of(Slot::Strong)),
        span(pad_left(&gain, 9), theme.of(if total <= before { Slot::Good } else { Slot::Bad })),
        span("  ", theme.of(Slot::Text)),
    ];
    let used: usize = spans.iter().map(|span| width(&span.content)).sum();
    let bars = (cells.saturating_sub(used) * 2 / 5).clamp(8, 40);
    spans.extend(bar(values(&profiled.cost), most, bars, theme, profiled.floor_us));
    let rest = cells.saturating_sub(used + bars + 2);
    let change = cut(&one_line(&profiled.change), rest);
    spans.push(span(format!("  {change}"), theme.of(Slot::Text)));
    Line::from(spans)
}

fn details(step: &Step, theme: &Theme, cells: usize) -> Vec<Line<'static>> {
    let profiled = &step.profiled;
    let (_, slot, word) = look(profiled.kind);
    let (dim, text) = (theme.of(Slot::Dim), theme.of(Slot::Text));
    let mut out = Vec::new();
    let prefix = Prefix::indent(8);
    let change =
        [span(one_line(&profiled.change), text), span(format!(" · {word}"), theme.of(slot))];
    out.extend(wrap(&change, cells, &prefix));
    let before = values(&step.before);
    let total = (profiled.cost.total_us(), step.before.total_us());
    let rows = PARTS.iter().zip(values(&profiled.cost)).zip(before);
    let rows = rows.map(|(((name, slot, _), now), before)| (*name, *slot, now, before));
    for (name, slot, now, before) in rows.chain([("total", Slot::Strong, total.0, total.1)]) {
        let change = (now - before) / 1e3;
        let change = if change.abs() < 5e-4 { String::new() } else { format!("{change:+.2} ms") };
        out.push(Line::from(vec![
            span("        ", dim),
            span(pad_right(name, 10), theme.of(slot)),
            span(pad_left(&micros(now), 10), text),
            span(pad_left(&change.replace('-', "−"), 13), dim),
        ]));
    }
    let mut words = vec![
        format!("floor {}", micros(profiled.floor_us)),
        format!("{} dispatches a layer", profiled.dispatches_per_layer),
        format!("predicted, ±{:.1} % on calibration rows", profiled.error_percent),
        format!("snapshot {}", profiled.snapshot.short()),
    ];
    words.push(match &profiled.receipt {
        Some(receipt) => format!("receipt {}", receipt.short()),
        None => "no receipt".to_owned(),
    });
    if profiled.diff.is_some() {
        words.push("enter again shows the change".to_owned());
    }
    out.extend(wrap(&[span(words.join(" · "), dim)], cells, &prefix));
    out
}
