//! Holds the code to the map in `src/lib.rs`, and shows that it would notice every way around it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const MOST_LINES: usize = 500;
const MOST_CAPTION: usize = 100;

/// Spellings that reach another house without an arrow that can be searched for.
const HIDDEN: &[&str] = &[
    "crate::{",
    "use crate as",
    "use crate;",
    "use pilotfish",
    "pilotfish::",
    "extern crate",
    "super::super",
    "super::{super",
    "#[path",
    "include!(",
];

/// What begins an item that a door may not hold.
const ITEMS: &[&str] =
    &["fn", "struct", "enum", "union", "trait", "impl", "const", "static", "type", "macro_rules"];

/// Spellings that make a verdict, or give one of its types another name.
const VERDICTS: &[&str] = &["Verdict::", "Verdict as", "Event::Judged", "Judged {", "Judged as"];

/// Where verdicts may be spelled: the words themselves, and their one maker.
const JUDGES: &[&str] = &["src/session/", "src/pipeline/evaluate.rs"];

/// What only one place may call, with the reason it is only there.
const ONLY: &[(&str, &[&str])] = &[
    // No byte of a model, a tool or a file reaches the terminal but through a cell buffer.
    ("execute!(", &["src/tui/terminal.rs"]),
    ("stdout()", &["src/tui/terminal.rs", "src/cli/"]),
    ("println!(", &["src/cli/"]),
    // The reference that judges the oracle shares only the reader of weights with it.
    ("unsafe {", &["src/model/weights/", "src/workspace/group.rs", "src/tensor/"]),
];

/// Inside one house: files that must not know each other.
const APART: &[(&str, &[&str])] = &[
    // The second opinion on the oracle computes by itself.
    ("src/model/reference.rs", &["oracle", "layer", "tensor::matmul", "tensor::ops"]),
    // The companion run of the R-ratio shares nothing with the simulator's kernels.
    ("src/pipeline/emulated.rs", &["simulate", "run_kernel", "Simulator"]),
];

/// The source tree as text, so that a test can plant a violation without touching a file.
type Tree = BTreeMap<String, String>;

struct Row {
    floor: usize,
    may_use: Vec<String>,
}

#[test]
fn the_house_stands_as_its_map_says() {
    let wrong = violations(&tree());
    assert!(wrong.is_empty(), "{} violations:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_way_around_the_map_is_noticed() {
    let plant = |path: &str, text: &str, complaint: &str| {
        let mut tree = tree();
        let before = violations(&tree).len();
        let planted = tree.entry(path.to_owned()).or_insert_with(|| "//! A caption.\n".to_owned());
        planted.push_str(text);
        let wrong = violations(&tree);
        let found = wrong.iter().any(|line| line.contains(complaint));
        assert!(found && wrong.len() > before, "`{text}` in {path}: {wrong:?}");
    };
    let file = "src/model/planted.rs";
    plant(file, "use crate::npu::Program;\n", "model -> npu");
    plant(file, "fn f() { crate::tui::run() }\n", "model -> tui");
    plant("src/session/planted.rs", "use crate::workspace::Path;\n", "session -> workspace");
    plant("src/tui/planted.rs", "use crate::agent::Reply;\n", "tui -> agent");
    plant("src/agent/planted.rs", "use crate::tools::Tool;\n", "agent -> tools");
    plant(file, "use crate::{npu, tui};\n", "hides an arrow");
    plant(file, "use crate as all;\n", "hides an arrow");
    plant(file, "use super::super::npu::Program;\n", "hides an arrow");
    plant(file, "#[path = \"../npu/lower.rs\"] mod stolen;\n", "hides an arrow");
    plant(file, "use pilotfish::npu::Program;\n", "hides an arrow");
    plant("src/model/mod.rs", "pub use super::npu::Program;\n", "climbs over");
    plant("src/model/mod.rs", "pub fn open() {}\n", "a door holds no code");
    plant("src/lib.rs", "const X: u8 = 0;\n", "a door holds no code");
    plant("src/stray/mod.rs", "", "not on the map");
    plant("src/stray.rs", "", "not on the map");
    plant("src/tools/planted.rs", "let v = Verdict::Pass;\n", "makes a verdict");
    plant("src/runtime/planted.rs", "let e = Event::Judged(x);\n", "makes a verdict");
    plant("src/pipeline/planted.rs", "use crate::session::Verdict as V;\n", "makes a verdict");
    plant(file, &"let x = 1;\n".repeat(MOST_LINES), "more than 500 lines");
    plant("src/tools/planted.rs", "println!(\"x\");\n", "belongs in");
    plant("src/pipeline/emulated.rs", "use crate::npu::Simulator;\n", "must not know");
    plant("src/model/reference.rs", "use super::oracle::Oracle;\n", "must not know");

    let mut bare = tree();
    bare.insert("src/model/planted.rs".into(), "// no caption\n".into());
    assert!(violations(&bare).iter().any(|line| line.contains("not a caption")));
    let mut gone = tree();
    gone.retain(|path, _| !path.starts_with("src/policy/"));
    assert!(violations(&gone).iter().any(|line| line.contains("has no folder")));
    let mut upward = tree();
    let map = upward["src/lib.rs"].replace("oracle | base, tensor |", "oracle | base, npu |");
    upward.insert("src/lib.rs".into(), map);
    assert!(violations(&upward).iter().any(|line| line.contains("points upwards")));
}

fn violations(tree: &Tree) -> Vec<String> {
    let map = map(&tree["src/lib.rs"]);
    let mut wrong = Vec::new();
    check_map(&map, tree, &mut wrong);
    for (path, text) in tree {
        check_file(path, text, tree, &mut wrong);
        if let Some(row) = house(path).and_then(|house| Some((house, map.get(house)?))) {
            check_arrows(path, text, row, &mut wrong);
        }
    }
    wrong
}

fn check_map(map: &BTreeMap<String, Row>, tree: &Tree, wrong: &mut Vec<String>) {
    for (name, row) in map {
        for used in &row.may_use {
            if map.get(used).is_none_or(|other| other.floor >= row.floor) {
                wrong.push(format!("src/lib.rs: {name} -> {used} points upwards, or nowhere"));
            }
        }
        if !tree.contains_key(&format!("src/{name}/mod.rs")) {
            wrong.push(format!("src/lib.rs: {name} has no folder with a door"));
        }
    }
    for path in tree.keys().filter(|path| !matches!(path.as_str(), "src/lib.rs" | "src/main.rs")) {
        if house(path).is_none_or(|house| !map.contains_key(house)) {
            wrong.push(format!("{path}: not on the map in src/lib.rs"));
        }
    }
}

fn check_arrows(path: &str, text: &str, (house, row): (&str, &Row), wrong: &mut Vec<String>) {
    for (line, code) in code_lines(text) {
        for used in code.split("crate::").skip(1).filter_map(first_word) {
            if used != house && !row.may_use.iter().any(|name| name == used) {
                wrong.push(format!("{path}:{line}: {house} -> {used} is not on the map"));
            }
        }
        if HIDDEN.iter().any(|way| code.contains(way)) {
            wrong.push(format!("{path}:{line}: hides an arrow: {code}"));
        }
        if path == format!("src/{house}/mod.rs") && code.contains("super::") {
            wrong.push(format!("{path}:{line}: climbs over the door: {code}"));
        }
    }
}

fn check_file(path: &str, text: &str, tree: &Tree, wrong: &mut Vec<String>) {
    let caption = text.lines().next().unwrap_or_default();
    let is_caption = caption.strip_prefix("//! ").is_some_and(|words| words.ends_with('.'));
    if !is_caption || caption.chars().count() > MOST_CAPTION {
        wrong.push(format!("{path}: the first line is not a caption: {caption}"));
    }
    if length(text) > MOST_LINES {
        wrong.push(format!("{path}: more than {MOST_LINES} lines"));
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let alone = tree.keys().filter(|other| other.starts_with(&format!("{folder}/"))).count() == 1;
    let is_door = path == "src/lib.rs" || (path.ends_with("/mod.rs") && !alone);
    for (line, code) in code_lines(text) {
        if is_door && words(code).any(|word| ITEMS.contains(&word)) {
            wrong.push(format!("{path}:{line}: a door holds no code: {code}"));
        }
        if !JUDGES.iter().any(|place| path.starts_with(place)) && makes_verdict(code) {
            wrong.push(format!("{path}:{line}: makes a verdict: {code}"));
        }
        for (call, places) in ONLY {
            if code.contains(call) && !places.iter().any(|place| path.starts_with(place)) {
                wrong.push(format!("{path}:{line}: `{call}` belongs in {}", places.join(", ")));
            }
        }
        for (_, strangers) in APART.iter().filter(|(file, _)| path == *file) {
            for stranger in strangers.iter().filter(|name| knows(code, name)) {
                wrong.push(format!("{path}:{line}: must not know `{stranger}`: {code}"));
            }
        }
    }
}

/// Left of `=>` and after `matches!` a verdict is only read.
fn makes_verdict(code: &str) -> bool {
    let made = code.rsplit("=>").next().unwrap_or_default();
    let made = made.replace("-> Judged", "");
    let reads = ["matches!(", "if let ", "let Some(", "== Verdict::", "!= Verdict::", "for "];
    if reads.iter().any(|way| code.contains(way)) {
        return false;
    }
    VERDICTS.iter().any(|way| made.contains(way))
}

fn knows(code: &str, name: &str) -> bool {
    let imports = code.starts_with("use ") || code.contains("super::") || code.contains("crate::");
    imports && code.contains(name)
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn first_word(rest: &str) -> Option<&str> {
    words(rest).next().filter(|word| !word.is_empty())
}

/// The house of a file below `src/<house>/`.
fn house(path: &str) -> Option<&str> {
    path.strip_prefix("src/")?.split_once('/').map(|(house, _)| house)
}

/// Numbered lines of code before the test module: its end in formatted code is a brace in column 0.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let kept = without_tests(text);
    kept.filter(|(_, line)| !line.starts_with("//")).map(|(at, line)| (at + 1, line))
}

fn length(text: &str) -> usize {
    without_tests(text).count()
}

fn without_tests(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let opens = |two: &[&str]| two[0] == "#[cfg(test)]" && two[1] == "mod tests {";
    let start = lines.windows(2).position(opens).unwrap_or(lines.len());
    let end =
        lines.iter().skip(start).position(|line| *line == "}").map_or(start, |at| start + at + 1);
    let kept = text.lines().enumerate().filter(move |(at, _)| !(start..end).contains(at));
    kept.map(|(at, line)| (at, line.trim()))
}

fn map(text: &str) -> BTreeMap<String, Row> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! |"));
    rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>())
        .filter_map(|cells| {
            let floor = cells.first()?.parse().ok()?;
            let used = cells.get(3)?.split(',').map(str::trim).filter(|name| !name.is_empty());
            Some((cells[1].to_owned(), Row { floor, may_use: used.map(str::to_owned).collect() }))
        })
        .collect()
}

fn tree() -> Tree {
    let mut tree = Tree::new();
    walk(Path::new("src"), &mut tree);
    tree
}

fn walk(folder: &Path, tree: &mut Tree) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, tree);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            tree.insert(path.to_string_lossy().into_owned(), text);
        }
    }
}
