//! One thing of the transcript as lines.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::session::{Answer, Author, CallRecord, CallState, Item, ToolOutcome, Verdict};
use crate::tui::proposal::summary;
use crate::tui::slot::Slot;
use crate::tui::theme::Theme;
use crate::tui::view::View;
use crate::tui::widget::{Prefix, cut, lines, one_line, render, span, width, wrap};

/// What the look of an item depends on besides the item itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    state: u8,
    open: bool,
    /// Words of a call at work.
    working: Option<String>,
}

impl Seen {
    pub(super) fn of(item: &Item, view: &View<'_>, open: bool) -> Self {
        let mut seen = Self { state: 0, open, working: None };
        if let Item::Call(id) = item {
            seen.state = match view.state.call(id).map(|record| &record.state) {
                None | Some(CallState::Called) => 1,
                Some(CallState::Asking { .. }) => 2,
                Some(CallState::Running) => 3,
                Some(CallState::Ended(_)) => 4,
            };
            seen.working = view.drafts.working.get(id).cloned();
        }
        seen
    }
}

/// An open item is cut here: the whole of it is an artifact.
const MOST_LINES: usize = 200;

pub(super) fn lines_of(
    item: &Item,
    before: Option<&Item>,
    seen: &Seen,
    view: &View<'_>,
    cells: usize,
) -> Vec<Line<'static>> {
    let theme = view.theme;
    let mut out = Vec::new();
    if before.is_some_and(|before| apart(before, item)) {
        out.push(Line::default());
    }
    match item {
        Item::User(text) => {
            let style = theme.of(Slot::User);
            let prefix = Prefix { first: vec![span("› ", style)], rest: vec![span("  ", style)] };
            let text = lines(text).join("\n");
            out.extend(wrap(&[span(text, style)], cells, &prefix));
        }
        Item::Agent(text) => {
            out.extend(render(text, cells, theme).rows.into_iter().map(|row| row.line));
        }
        Item::Call(id) => {
            if let Some(record) = view.state.call(id).filter(|call| seen.open || !is_told(call)) {
                out.extend(call(record, seen, theme, cells));
            }
        }
        Item::Judged { gate, verdict, headline } => {
            let (mark, slot) = verdict_look(*verdict);
            let mut spans = vec![
                span(format!("{mark} gate "), theme.of(slot)),
                span(gate.to_string(), theme.of(Slot::Strong)),
                span(format!(" {verdict}"), theme.of(slot)),
            ];
            let words = one_line(headline);
            spans.push(span(format!(" · {words}"), theme.of(Slot::Dim)));
            out.extend(folded(&spans, seen.open, cells));
        }
        Item::Phase(phase) => {
            let words = format!("─── phase {} · {} ", phase.number(), phase.title());
            let rest = cells.saturating_sub(width(&words));
            out.push(Line::from(vec![
                span(words, theme.of(Slot::Heading)),
                span("─".repeat(rest), theme.of(Slot::Rule)),
            ]));
        }
        Item::Skill { skill, why } => {
            let spans = [
                span("◇ reads ", theme.of(Slot::Dim)),
                span(one_line(skill), theme.of(Slot::Text)),
                span(format!(": {}", one_line(why)), theme.of(Slot::Dim)),
            ];
            out.extend(folded(&spans, seen.open, cells));
        }
        // The call that wrote it says so already.
        Item::Document { by, .. }
            if *by != Author::User && matches!(before, Some(Item::Call(_))) => {}
        Item::Document { path, by } => {
            let (words, slot) = match by {
                Author::User => (" changed by you", Slot::Warn),
                _ => (" written", Slot::Dim),
            };
            out.push(Line::from(vec![
                span("✎ ", theme.of(slot)),
                span(one_line(path), theme.of(Slot::Dim)),
                span(words, theme.of(slot)),
            ]));
        }
        Item::Note { kind, text, .. } => out.extend(note(kind, text, seen.open, theme, cells)),
    }
    out
}

/// A mark and its style: the mark tells the same without colour.
pub(crate) fn verdict_look(verdict: Verdict) -> (&'static str, Slot) {
    match verdict {
        Verdict::Pass => ("✓", Slot::Good),
        Verdict::Fail => ("✗", Slot::Bad),
        Verdict::Blocked => ("!", Slot::Warn),
    }
}

/// Things of one kind stand close; what a person or a mind says stands apart.
fn apart(before: &Item, item: &Item) -> bool {
    let speaks = |item: &Item| matches!(item, Item::User(_) | Item::Agent(_) | Item::Phase(_));
    speaks(item) || (speaks(before) && !matches!(before, Item::Phase(_)))
}

fn note(kind: &str, text: &str, open: bool, theme: &Theme, cells: usize) -> Vec<Line<'static>> {
    let (mark, slot, stays_open) = match kind {
        "blocker" => ("!", Slot::Bad, true),
        "warning" => ("!", Slot::Warn, true),
        _ => ("·", Slot::Dim, false),
    };
    let text = lines(text).join("\n");
    let spans = [
        span(format!("{mark} {}: ", one_line(kind)), theme.of(slot)),
        span(text, theme.of(if stays_open { Slot::Text } else { Slot::Dim })),
    ];
    folded(&spans, open || stays_open, cells)
}

/// All of it when open, one line otherwise.
fn folded(spans: &[Span<'static>], open: bool, cells: usize) -> Vec<Line<'static>> {
    if open {
        return wrap(
            spans,
            cells,
            &Prefix { first: Vec::new(), rest: vec![span("  ", Style::new())] },
        );
    }
    vec![cut_line(spans, cells)]
}

fn cut_line(spans: &[Span<'static>], cells: usize) -> Line<'static> {
    let mut left = cells;
    let mut out = Vec::new();
    for part in spans {
        if left == 0 {
            break;
        }
        let text = cut(&part.content.replace('\n', " "), left);
        left -= width(&text);
        out.push(span(text, part.style));
    }
    Line::from(out)
}

fn call(record: &CallRecord, seen: &Seen, theme: &Theme, cells: usize) -> Vec<Line<'static>> {
    let (mark, slot, word) = look(record);
    let mut spans = vec![
        span(format!("{mark} "), theme.of(slot)),
        span(one_line(&record.call.tool), theme.of(Slot::Strong)),
    ];
    let words = summary(&record.call);
    if !words.is_empty() {
        spans.push(span(format!(" {words}"), theme.of(Slot::Text)));
    }
    if !word.is_empty() {
        spans.push(span(format!(" · {word}"), theme.of(slot)));
    }
    let mut out = folded(&spans, seen.open, cells);
    let dim = theme.of(Slot::Dim);
    let inner = cells.saturating_sub(4);
    let told = match &record.state {
        CallState::Running => seen.working.clone().unwrap_or_default(),
        CallState::Asking { why } => why.clone(),
        CallState::Ended(outcome) => outcome.text().to_owned(),
        CallState::Called => String::new(),
    };
    let told = lines(&told);
    if seen.open {
        let prefix = Prefix {
            first: vec![span("  │ ", theme.of(Slot::Rule))],
            rest: vec![span("  │ ", theme.of(Slot::Rule))],
        };
        for line in told.iter().take(MOST_LINES) {
            out.extend(wrap(&[span(line.clone(), dim)], cells, &prefix));
        }
        if told.len() > MOST_LINES {
            let words = format!("  │ … {} more lines", told.len() - MOST_LINES);
            out.push(Line::from(span(words, dim)));
        }
        return out;
    }
    if let Some(first) = told.iter().find(|line| !line.trim().is_empty()) {
        let more = told.iter().filter(|line| !line.trim().is_empty()).count() - 1;
        let tail = if more > 0 { format!(" (+{more} lines)") } else { String::new() };
        let room = inner.saturating_sub(width(&tail));
        let text = format!("{}{tail}", cut(first.trim(), room));
        out.push(Line::from(vec![span("  └ ", theme.of(Slot::Rule)), span(text, dim)]));
    }
    out
}

/// What came of it is the next thing in the transcript: the judgement itself.
fn is_told(record: &CallRecord) -> bool {
    let done = matches!(record.state, CallState::Ended(ToolOutcome::Done { .. }));
    done && record.call.tool == "gate"
}

fn look(record: &CallRecord) -> (&'static str, Slot, &'static str) {
    match (&record.state, &record.answer) {
        (CallState::Called, _) => ("○", Slot::Dim, ""),
        (CallState::Asking { .. }, _) => ("?", Slot::Warn, "waits for you"),
        (CallState::Running, _) => ("●", Slot::Busy, "at work"),
        (CallState::Ended(ToolOutcome::Done { .. }), Some(Answer::Edited(_))) => {
            ("✓", Slot::Good, "as you wrote it")
        }
        (CallState::Ended(ToolOutcome::Done { .. }), Some(Answer::Hunks(_))) => {
            ("✓", Slot::Good, "the hunks you chose")
        }
        (CallState::Ended(ToolOutcome::Done { .. }), _) => ("✓", Slot::Good, ""),
        (CallState::Ended(ToolOutcome::Failed { .. }), _) => ("✗", Slot::Bad, "failed"),
        (CallState::Ended(ToolOutcome::Denied { .. }), Some(Answer::Reject { .. })) => {
            ("⊘", Slot::Warn, "you said no")
        }
        (CallState::Ended(ToolOutcome::Denied { .. }), _) => ("⊘", Slot::Warn, "denied"),
        (CallState::Ended(ToolOutcome::Stopped), _) => ("■", Slot::Warn, "stopped"),
    }
}
