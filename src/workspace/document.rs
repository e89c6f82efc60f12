//! A markdown document that people and minds both edit: one part changes, every other byte stays.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::substitute::substitute;

/// A heading at the top level of the document: not inside a quote, a list or a code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub level: usize,
    pub title: String,
    /// The bytes of the heading, and those of its section below it: up to the next heading of the
    /// same or a higher level.
    pub line: Range<usize>,
    pub body: Range<usize>,
}

/// A change of one part. Made twice, the additive ones change nothing the second time, so that a
/// call that was killed after its write may be carried out again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The whole text.
    Replace(String),
    /// The body of the section under this heading; made at the end if there is none.
    Section { heading: String, text: String },
    /// At the end of the document.
    Append(String),
    /// At the end of the section under this heading.
    AppendTo { heading: String, text: String },
    /// The task whose words these are: done.
    Tick(String),
    /// The task whose words these are: to do again.
    Untick(String),
    /// One part for another, where it is clear which is meant.
    Substitute { old: String, new: String },
    /// A row of the first table under this heading, its cells by the names of the columns.
    Row { heading: String, cells: Vec<(String, String)> },
}

impl Edit {
    /// The edit that a call asks for: `section`, `replace`, `append` or `tick`.
    pub fn named(mode: &str, section: Option<&str>, text: &str) -> Result<Self, String> {
        let text = text.to_owned();
        match (mode, section.map(str::to_owned)) {
            ("section", Some(heading)) => Ok(Self::Section { heading, text }),
            ("section", None) => Err("it does not say which `section`".into()),
            ("replace", None) => Ok(Self::Replace(text)),
            ("append", None) => Ok(Self::Append(text)),
            ("append", Some(heading)) => Ok(Self::AppendTo { heading, text }),
            ("tick", None) => Ok(Self::Tick(text)),
            ("replace" | "tick", Some(_)) => Err(format!("`{mode}` takes no `section`")),
            _ => Err(format!("`{mode}` is none of section, replace, append, tick")),
        }
    }

    /// The text after the change, or why it cannot be made.
    pub fn apply(&self, text: &str) -> Result<String, String> {
        let changed = match self {
            Self::Replace(whole) => return Ok(ended(whole.clone())),
            Self::Section { heading, text: body } => replace_section(text, heading, body),
            Self::Append(more) => append_in(text, 0..text.len(), more),
            Self::AppendTo { heading, text: more } => match find(text, heading) {
                Some(found) => append_in(text, own(text, &found), more),
                None => replace_section(text, heading, more),
            },
            Self::Tick(item) => return mark(text, item, 'x'),
            Self::Untick(item) => return mark(text, item, ' '),
            Self::Substitute { old, new } => return substitute(text, old, new),
            Self::Row { heading, cells } => append_row(text, heading, cells),
        };
        Ok(changed)
    }
}

/// The headings of a document, in order.
pub fn outline(text: &str) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let (mut depth, mut title) = (0, None);
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                depth += 1;
                title = Some(String::new());
                let line = range.start..line_end(text, range.end);
                let body = line.end..text.len();
                let level = level as usize;
                headings.push(Heading { level, title: String::new(), line, body });
            }
            Event::Start(_) => depth += 1,
            Event::End(end) => {
                depth -= 1;
                if let (TagEnd::Heading(_), Some(title), Some(last)) =
                    (end, title.take_if(|_| depth == 0), headings.last_mut())
                {
                    title.trim().clone_into(&mut last.title);
                }
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some(title) = &mut title {
                    title.push_str(&words);
                }
            }
            _ => (),
        }
    }
    for at in 0..headings.len() {
        let level = headings[at].level;
        if let Some(next) = headings[at + 1..].iter().find(|next| next.level <= level) {
            headings[at].body.end = next.line.start;
        }
    }
    headings
}

/// The body of the section under a heading, if there is one.
pub fn section<'t>(text: &'t str, heading: &str) -> Option<&'t str> {
    find(text, heading).map(|found| &text[found.body])
}

fn find(text: &str, heading: &str) -> Option<Heading> {
    let title = heading.trim_start_matches('#').trim();
    outline(text).into_iter().find(|found| found.title == title)
}

/// What a change of this section may touch. The title of a document owns the words below it, not
/// the sections that follow.
fn own(text: &str, heading: &Heading) -> Range<usize> {
    let next = outline(text).into_iter().find(|next| next.line.start >= heading.body.start);
    match next {
        Some(next) if heading.level == 1 => heading.body.start..next.line.start,
        _ => heading.body.clone(),
    }
}

fn replace_section(text: &str, heading: &str, body: &str) -> String {
    let Some(found) = find(text, heading) else {
        let marks = heading.chars().take_while(|c| *c == '#').count();
        let marks = "#".repeat(if (1..=6).contains(&marks) { marks } else { 2 });
        let title = heading.trim_start_matches('#').trim();
        let fresh = format!("{marks} {title}\n\n{}", body.trim());
        return insert(text, text.trim_end().len(), &fresh, "\n\n");
    };
    let core = core(text, &own(text, &found));
    if core.is_empty() {
        return insert(text, text[..found.line.end].trim_end().len(), body.trim(), "\n\n");
    }
    splice(text, core, body.trim())
}

/// Adds to the end of a range, one line on if it goes on with a list or a table, else two.
fn append_in(text: &str, range: Range<usize>, more: &str) -> String {
    let more = more.trim();
    let core = core(text, &range);
    let old = &text[core.clone()];
    let old_lines = as_lines(old);
    if more.is_empty() || old_lines == as_lines(more) || ends_with_lines(&old_lines, more) {
        return ended(text.to_owned());
    }
    if core.is_empty() {
        return insert(text, text[..range.start].trim_end().len(), more, "\n\n");
    }
    let last = old.lines().next_back().unwrap_or("");
    let kind = |line: &str| line.trim_start().chars().next().filter(|c| "-*+|".contains(*c));
    let goes_on = kind(last).is_some() && kind(last) == more.lines().next().and_then(kind);
    insert(text, core.end, more, if goes_on { "\n" } else { "\n\n" })
}

fn as_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

fn ends_with_lines(old: &[&str], more: &str) -> bool {
    old.ends_with(&as_lines(more))
}

/// Sets the mark of the one task whose text this is, or which contains it.
fn mark(text: &str, item: &str, mark: char) -> Result<String, String> {
    let mut exact = Vec::new();
    let mut containing = Vec::new();
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        let Event::TaskListMarker(_) = event else { continue };
        let Some(brackets) = text[range.clone()].find('[').map(|at| range.start + at) else {
            continue;
        };
        let Some(end) = text[brackets..].find(']').map(|at| brackets + at) else { continue };
        let words = text[end + 1..line_end(text, end + 1)].trim();
        if words == item.trim() {
            exact.push((brackets + 1..end, words));
        } else if words.contains(item.trim()) {
            containing.push((brackets + 1..end, words));
        }
    }
    let found = if exact.is_empty() { containing } else { exact };
    match &found[..] {
        [(place, _)] => {
            let is_set = text[place.clone()].eq_ignore_ascii_case(&mark.to_string());
            if is_set {
                return Ok(text.to_owned());
            }
            Ok(splice(text, place.clone(), &mark.to_string()))
        }
        [] => Err(format!("no task reads `{item}`")),
        more => {
            let names: Vec<_> = more.iter().map(|(_, words)| format!("`{words}`")).collect();
            Err(format!("`{item}` may be {}", names.join(" or ")))
        }
    }
}

/// Adds a row. Cells go where their column is now: a person may have moved or added some.
fn append_row(text: &str, heading: &str, cells: &[(String, String)]) -> String {
    let names: Vec<&str> = cells.iter().map(|(name, _)| name.as_str()).collect();
    let found = find(text, heading);
    let body = found.as_ref().map(|found| found.body.clone());
    let table = body.and_then(|body| Some((first_table(text, &body)?, body)));
    let Some((table, _)) = table else {
        let rule = vec!["---"; names.len()];
        let values = cells.iter().map(|(_, value)| value.as_str());
        let rows = [row(names.iter().copied()), row(rule.into_iter()), row(values)];
        let fresh = rows.join("\n");
        return match found {
            Some(found) => append_in(text, found.body, &fresh),
            None => replace_section(text, heading, &fresh),
        };
    };
    let header = text[table.clone()].lines().next().unwrap_or("");
    let columns = split_row(header);
    let value = |column: &String| {
        let same = |(name, _): &&(String, String)| name.eq_ignore_ascii_case(column);
        cells.iter().find(same).map_or("", |(_, value)| value.as_str())
    };
    let row = row(columns.iter().map(value));
    let last = text[table.clone()].trim_end().lines().next_back().unwrap_or("");
    if split_row(last) == split_row(&row) {
        return text.to_owned();
    }
    let end = table.start + text[table].trim_end().len();
    insert(text, end, &row, "\n")
}

fn first_table(text: &str, body: &Range<usize>) -> Option<Range<usize>> {
    let mut events = Parser::new_ext(text, options()).into_offset_iter();
    let found = events.find(|(event, range)| {
        matches!(event, Event::Start(Tag::Table(_))) && body.contains(&range.start)
    });
    found.map(|(_, range)| range)
}

fn row<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let escape =
        |cell: &str| cell.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ");
    let cells: Vec<String> = cells.map(escape).collect();
    format!("| {} |", cells.join(" | "))
}

/// The cells of a row, unescaped and trimmed.
fn split_row(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let (mut cells, mut cell, mut escaped) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            _ if escaped => {
                cell.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '|' => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(c),
        }
    }
    if !cell.trim().is_empty() {
        cells.push(cell);
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// A range without the white space at its ends.
fn core(text: &str, range: &Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = range.start + (inner.len() - inner.trim_start().len());
    start..start.max(range.start + inner.trim_end().len())
}

/// Puts a text after `at`, the end of some words, set apart by `gap`; what follows keeps the gap
/// that it had.
fn insert(text: &str, at: usize, fresh: &str, gap: &str) -> String {
    let gap = if text[..at].trim().is_empty() { "" } else { gap };
    let at = if gap.is_empty() { text[..at].trim_end().len() } else { at };
    let changed = splice(text, at..at, &format!("{gap}{fresh}"));
    ended(changed)
}

/// Exchanges a range, its line ends in the manner of the document.
fn splice(text: &str, range: Range<usize>, fresh: &str) -> String {
    let fresh = fresh.replace("\r\n", "\n");
    let crlf = text.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r'));
    let fresh = if crlf { fresh.replace('\n', "\r\n") } else { fresh };
    format!("{}{fresh}{}", &text[..range.start], &text[range.end..])
}

/// A text with an end of line at its end.
fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(if text.contains("\r\n") { "\r\n" } else { "\n" });
    }
    text
}

/// The place after the line in which `at` is, or which ends at it.
fn line_end(text: &str, at: usize) -> usize {
    if text[..at].ends_with('\n') {
        return at;
    }
    text[at..].find('\n').map_or(text.len(), |more| at + more + 1)
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "# Plan\n\nIntro.\n\n## Phase 0\n\n- [x] config\n* [ ] oracle `f32`\n\n\
        ```sh\n# not a heading\n```\n\n### Notes\nmine\n\n\n## Steps\n\n| step | change | receipt |\n\
        |:--|---|---|\n| 1 | a \\| b | r1 |\n\nAfter.\n";

    fn section_of(heading: &str, text: &str) -> Edit {
        Edit::Section { heading: heading.into(), text: text.into() }
    }

    fn row_of(cells: &[(&str, &str)]) -> Edit {
        let cells = cells.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Edit::Row { heading: "Steps".into(), cells }
    }

    #[test]
    fn an_outline_sees_what_a_reader_sees() {
        let outline = outline(PLAN);
        let shown: Vec<_> = outline.iter().map(|h| (h.level, h.title.as_str())).collect();
        assert_eq!(shown, [(1, "Plan"), (2, "Phase 0"), (3, "Notes"), (2, "Steps")]);
        assert_eq!(section(PLAN, "## Notes").unwrap(), "mine\n\n\n");
        assert!(section(PLAN, "Phase 0").unwrap().contains("# not a heading"));
        assert_eq!(section("Title\n=====\nbody", "Title").unwrap(), "body");
        assert_eq!(section("> # quoted\n", "quoted"), None);
        assert_eq!(section(PLAN, "not a heading"), None);
    }

    #[test]
    fn an_edit_changes_its_part_and_nothing_else() {
        let check = |edit: Edit, before: &str, from: &str, to: &str| {
            assert!(before.contains(from), "{from:?}");
            let once = edit.apply(before).unwrap();
            assert_eq!(once, before.replacen(from, to, 1), "{edit:?}");
            assert_eq!(edit.apply(&once).unwrap(), once, "{edit:?} twice");
        };
        check(section_of("Notes", "yours\n"), PLAN, "mine", "yours");
        check(section_of("# Plan", "Outro."), PLAN, "Intro.", "Outro.");
        check(Edit::Tick("oracle `f32`".into()), PLAN, "* [ ]", "* [x]");
        check(Edit::Tick("oracle".into()), PLAN, "* [ ]", "* [x]");
        check(Edit::Untick("config".into()), PLAN, "[x]", "[ ]");
        check(Edit::Append("End.".into()), PLAN, "After.\n", "After.\n\nEnd.\n");
        let more = Edit::AppendTo { heading: "Notes".into(), text: "- one".into() };
        check(more, PLAN, "mine\n", "mine\n\n- one\n");
        let cells = [("step", "2"), ("Receipt", "r2"), ("change", "x | y\nz"), ("new", "?")];
        let after = "| 1 | a \\| b | r1 |\n";
        check(row_of(&cells), PLAN, after, &format!("{after}| 2 | x \\| y z | r2 |\n"));
        let crlf = PLAN.replace('\n', "\r\n");
        check(section_of("Notes", "a\nb"), &crlf, "mine", "a\r\nb");
    }

    #[test]
    fn what_is_missing_is_made_or_told() {
        let check = |edit: Edit, before: &str, after: &str| {
            assert_eq!(edit.apply(before).unwrap(), after, "{edit:?}");
        };
        check(section_of("### New", "text"), "# A\n", "# A\n\n### New\n\ntext\n");
        check(section_of("New", "text"), "", "## New\n\ntext\n");
        check(section_of("A", "text"), "# A\n\n# B\n", "# A\n\ntext\n\n# B\n");
        check(Edit::Append("one".into()), "", "one\n");
        check(Edit::Append("- b".into()), "- a", "- a\n- b\n");
        check(Edit::Replace("x".into()), "y", "x\n");
        let table = "## Steps\n\n| n |\n| --- |\n| 1 |\n";
        check(row_of(&[("n", "1")]), "", table);
        check(row_of(&[("n", "2")]), table, &format!("{table}| 2 |\n"));
        assert!(Edit::Tick("bake".into()).apply(PLAN).unwrap_err().contains("no task"));
        let two = "- [ ] bake a\n- [ ] bake b\n";
        assert!(Edit::Tick("bake".into()).apply(two).unwrap_err().contains("`bake a` or"));
    }
}
