//! Where the time of a program goes: by part, by kernel, as a timeline, and live while it runs.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::pane::Pane;
use super::scroll::Scroll;
use super::trajectory::{PARTS, STAGES, bar, legend, values};
use crate::npu::Profile;
use crate::session::{Cost, Step};
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::load::Wanted;
use crate::tui::slot::Slot;
use crate::tui::view::View;
use crate::tui::widget::{
    Prefix, meter, micros, one_line, pad_left, pad_right, put, scrollbar, span, wrap,
};

#[derive(Default)]
pub(crate) struct Profiles {
    /// Which stage is shown: the one last timed, until a person chooses.
    chosen: Option<usize>,
    scroll: Scroll,
    rows: Vec<Line<'static>>,
}

impl Profiles {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn stage(&self, view: &View<'_>) -> usize {
        let last = view.state.trajectory.steps.last();
        let last = last.map_or(0, |step| usize::from(step.profiled.stage == STAGES[1]));
        self.chosen.unwrap_or(last)
    }

    /// The program as it is, and the naive one.
    fn steps<'a>(&self, view: &View<'a>) -> Option<(&'a Step, &'a Step)> {
        let stage = STAGES[self.stage(view)];
        let trajectory = &view.state.trajectory;
        Some((trajectory.best(stage)?, trajectory.baseline(stage)?))
    }
}

impl Pane for Profiles {
    fn title(&self) -> &'static str {
        "Profile"
    }

    fn wants(&self, view: &View<'_>) -> Vec<Wanted> {
        let ids = self.steps(view).and_then(|(best, _)| best.profiled.profile.clone());
        ids.map(Wanted::Profile).into_iter().collect()
    }

    fn act(&mut self, action: Action, view: &View<'_>) -> Option<Effect> {
        match action {
            Action::NextSection | Action::PreviousSection | Action::Left | Action::Right => {
                self.chosen = Some(1 - self.stage(view));
                self.scroll.go(0);
            }
            _ => {
                self.scroll.act(action);
            }
        }
        None
    }

    fn fit(&mut self, area: Rect, view: &View<'_>) {
        let cells = usize::from(area.width.saturating_sub(1));
        let mut rows = live(view, cells);
        match self.steps(view) {
            Some((best, baseline)) => {
                rows.extend(summary(best, baseline, view, cells));
                let id = best.profiled.profile.as_ref();
                match id.and_then(|id| view.loaded.profile(id)) {
                    Some(profile) => {
                        rows.extend(kernels(profile, view, cells));
                        rows.extend(dispatches(profile, view, cells));
                    }
                    None if id.is_some() => {
                        rows.push(Line::from(span(
                            "reading the profile …",
                            view.theme.of(Slot::Dim),
                        )));
                    }
                    None => (),
                }
            }
            None if rows.is_empty() => {
                let words = "nothing has been timed yet: the profile comes with the first program";
                let words = [span(words, view.theme.of(Slot::Dim))];
                rows.extend(wrap(&words, cells, &Prefix::default()));
            }
            None => (),
        }
        self.rows = rows;
        self.scroll.fit(self.rows.len(), usize::from(area.height));
    }

    fn draw(&self, view: &View<'_>, area: Rect, buffer: &mut Buffer) {
        for (y, row) in self.scroll.rows().enumerate() {
            let at = (area.x, area.y + y as u16);
            put(buffer, at, area.width.saturating_sub(1), &self.rows[row].spans);
        }
        scrollbar(buffer, area, self.scroll.bar(), view.theme.of(Slot::Faint));
    }
}

/// What runs now: time by lane and name since it began.
fn live(view: &View<'_>, cells: usize) -> Vec<Line<'static>> {
    let theme = view.theme;
    let totals = &view.drafts.totals;
    if totals.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<_> = totals.iter().collect();
    rows.sort_by_key(|((_, _), (_, ns))| std::cmp::Reverse(*ns));
    let most = rows.first().map_or(0, |(_, (_, ns))| *ns) as f64;
    let mut out = vec![Line::from(span("running now", theme.of(Slot::Busy)))];
    let bars = (cells / 4).clamp(6, 30);
    for ((lane, name), (count, ns)) in rows.into_iter().take(8) {
        let slot = match lane.as_str() {
            "npu" => Slot::Tile,
            "upload" => Slot::Upload,
            _ => Slot::Host,
        };
        let names = cells.saturating_sub(bars + 28);
        let mut spans = vec![
            span(pad_right(&one_line(lane), 7), theme.of(slot)),
            span(pad_right(&one_line(name), names), theme.of(Slot::Text)),
            span(pad_left(&format!("{count}×"), 8), theme.of(Slot::Dim)),
            span(pad_left(&micros(*ns as f64 / 1e3), 10), theme.of(Slot::Strong)),
            span("  ", theme.of(Slot::Text)),
        ];
        spans.extend(meter(*ns as f64, most, bars, theme.of(slot), theme.of(Slot::Faint)));
        out.push(Line::from(spans));
    }
    out.push(Line::default());
    out
}

fn summary(best: &Step, baseline: &Step, view: &View<'_>, cells: usize) -> Vec<Line<'static>> {
    let theme = view.theme;
    let (dim, text) = (theme.of(Slot::Dim), theme.of(Slot::Text));
    let (now, first) = (&best.profiled.cost, &baseline.profiled.cost);
    let stage = &best.profiled.stage;
    let other = if stage == STAGES[0] { STAGES[1] } else { STAGES[0] };
    let mut spans = vec![
        span(format!("{stage}  "), theme.of(Slot::Heading)),
        span(micros(now.total_us()), theme.of(Slot::Strong)),
        span(format!("  floor {}", micros(best.profiled.floor_us)), theme.of(Slot::Floor)),
        span(format!("  predicted ±{:.1} %", best.profiled.error_percent), dim),
    ];
    if view.state.trajectory.best(other).is_some() {
        spans.push(span("  [ ]", theme.of(Slot::Key)));
        spans.push(span(format!(" {other}"), dim));
    }
    let mut out = wrap(&spans, cells, &Prefix::default());
    let most = now.total_us().max(first.total_us());
    let bars = cells.saturating_sub(20).clamp(8, 72);
    let rows: [(&str, &Cost); 2] = [("naive", first), ("now", now)];
    let shown = if first == now { &rows[1..] } else { &rows[..] };
    for (name, cost) in shown {
        let mut spans = vec![span(pad_right(name, 7), dim)];
        spans.extend(bar(values(cost), most, bars, theme, best.profiled.floor_us));
        spans.push(span(pad_left(&micros(cost.total_us()), 10), text));
        out.push(Line::from(spans));
    }
    out.push(legend(theme));
    out.push(Line::default());
    let head = ["", "naive", "now", "share", "change"];
    let widths = [10, 11, 11, 8, 12];
    let line = |cells: [String; 5], styles: [Slot; 5]| {
        let cells = cells.iter().zip(widths).enumerate();
        let spans = cells.zip(styles).map(|((at, (text, wide)), slot)| {
            let text = if at == 0 { pad_right(text, wide) } else { pad_left(text, wide) };
            span(text, theme.of(slot))
        });
        Line::from(spans.collect::<Vec<_>>())
    };
    out.push(line(head.map(str::to_owned), [Slot::Dim; 5]));
    let parts = PARTS.iter().zip(values(first)).zip(values(now));
    let parts = parts.map(|(((name, slot, _), first), now)| (*name, *slot, first, now));
    let totals = ("total", Slot::Strong, first.total_us(), now.total_us());
    for (name, slot, before, after) in parts.chain([totals]) {
        let share = 100.0 * after / now.total_us();
        let change = match before {
            _ if before <= 0.0 && after <= 0.0 => String::new(),
            _ if before <= 0.0 => "new".to_owned(),
            _ => format!("{:+.1} %", 100.0 * (after - before) / before).replace('-', "−"),
        };
        let cells = [
            name.to_owned(),
            micros(before),
            micros(after),
            if share.is_finite() { format!("{share:.0} %") } else { String::new() },
            change,
        ];
        out.push(line(cells, [slot, Slot::Dim, Slot::Text, Slot::Text, Slot::Dim]));
    }
    out
}

fn kernels(profile: &Arc<Profile>, view: &View<'_>, cells: usize) -> Vec<Line<'static>> {
    let theme = view.theme;
    let (dim, text) = (theme.of(Slot::Dim), theme.of(Slot::Text));
    let total = profile.total_us();
    let wide = cells >= 78;
    let mut out = vec![Line::default()];
    let mut head = format!(
        "{}{}{}{}",
        pad_right("kernel", 18),
        pad_left("calls", 7),
        pad_left("time", 10),
        pad_left("share", 7)
    );
    if wide {
        head.extend([pad_left("GB/s", 8), pad_left("GFLOP/s", 9)]);
    }
    out.push(Line::from(span(head, dim)));
    let used = 18 + 7 + 10 + 7 + if wide { 17 } else { 0 } + 2;
    let bars = cells.saturating_sub(used).min(30);
    for row in &profile.kernels {
        let slot = if row.on_array { Slot::Tile } else { Slot::Host };
        let share = 100.0 * row.total_us() / total;
        let mut spans = vec![
            span(pad_right(&one_line(&row.kernel), 18), theme.of(slot)),
            span(pad_left(&row.calls.to_string(), 7), dim),
            span(pad_left(&micros(row.total_us()), 10), text),
            span(pad_left(&format!("{share:.1} %"), 7), text),
        ];
        if wide {
            let rate = |value: f64| if value > 0.0 { format!("{value:.1}") } else { String::new() };
            spans.push(span(pad_left(&rate(row.gigabytes_per_s()), 8), dim));
            spans.push(span(pad_left(&rate(row.gflops()), 9), dim));
        }
        spans.push(span("  ", text));
        let most = profile.kernels.first().map_or(0.0, crate::npu::KernelTime::total_us);
        spans.extend(meter(row.total_us(), most, bars, theme.of(slot), theme.of(Slot::Faint)));
        out.push(Line::from(spans));
    }
    out
}

/// One layer, dispatch by dispatch: what each is made of.
fn dispatches(profile: &Arc<Profile>, view: &View<'_>, cells: usize) -> Vec<Line<'static>> {
    let theme = view.theme;
    let mut out = vec![Line::default()];
    let words = format!(
        "{} dispatches · {} launches · {} a layer · {:.1} MB uploaded a call",
        profile.dispatches,
        profile.launches,
        profile.dispatches_per_layer,
        profile.upload_bytes / 1e6
    );
    out.extend(wrap(&[span(words, theme.of(Slot::Dim))], cells, &Prefix::default()));
    let most = profile.steps.iter().map(|step| step.cost.total()).fold(0.0, f64::max);
    let names = (cells / 3).clamp(12, 36);
    let bars = cells.saturating_sub(names + 14).clamp(6, 60);
    for step in &profile.steps {
        let mut spans = vec![
            span(pad_right(&one_line(&step.name), names), theme.of(Slot::Text)),
            span(pad_left(&micros(step.cost.total()), 10), theme.of(Slot::Strong)),
            span("  ", theme.of(Slot::Text)),
        ];
        let parts = step.cost.categories().map(|(_, value)| value);
        spans.extend(bar(parts, most, bars, theme, 0.0));
        out.push(Line::from(spans));
    }
    out
}
