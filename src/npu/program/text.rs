//! A program file: what a person reads and writes, together with the program that it says.

use super::blocks::{Block, blocks};
use super::buffer::Buffer;
use super::dispatch::{Dispatch, Launch, Program, Work};
use super::format::{self, render};
use super::read::read;
use crate::base::Finding;

/// The text of a program file, and the program in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramText {
    text: String,
    program: Program,
}

impl ProgramText {
    /// Reads a program file. `place` is the path that findings name, with line and column. There
    /// is a program exactly where no finding is an error.
    pub fn parse(place: &str, text: &str) -> (Option<Self>, Vec<Finding>) {
        let (program, findings) = read(place, text);
        let parsed = program.map(|program| Self { text: text.to_owned(), program });
        (parsed, findings)
    }

    /// A new file without comments, in canonical form.
    pub fn new(program: Program) -> Self {
        let text = write(&program, None, Unchanged::AsItIs);
        Self { text, program }
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The file after a change of the program: blocks that say the same stay byte for byte, the
    /// others are written anew with the comments that were in them. Comments of a block that is
    /// gone stand before the next one.
    pub fn with(&self, program: &Program) -> Self {
        let text = write(program, Some(self), Unchanged::AsItIs);
        Self { text, program: program.clone() }
    }

    /// The same program and comments in canonical form.
    pub fn formatted(&self) -> Self {
        let text = write(&self.program, Some(self), Unchanged::Anew);
        Self { text, program: self.program.clone() }
    }
}

/// A program file in canonical form, comments kept: what `pilotfish fmt` writes.
pub fn format(place: &str, text: &str) -> Result<String, Vec<Finding>> {
    let (parsed, findings) = ProgramText::parse(place, text);
    parsed.map(|parsed| parsed.formatted().text).ok_or(findings)
}

/// How a block that says the same as before is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unchanged {
    AsItIs,
    Anew,
}

/// What one block says.
enum Said<'p> {
    Top(&'p Program),
    Buffer(&'p Buffer),
    Dispatch(&'p Dispatch),
    Launch(&'p Launch),
}

impl<'p> Said<'p> {
    /// Everything that a program says, in the order of its blocks.
    fn all(program: &'p Program) -> Vec<Self> {
        let mut all = vec![Self::Top(program)];
        all.extend(program.buffers.iter().map(Self::Buffer));
        for dispatch in &program.dispatches {
            all.push(Self::Dispatch(dispatch));
            if let Work::Launches(launches) = &dispatch.work {
                all.extend(launches.iter().map(Self::Launch));
            }
        }
        all
    }

    fn header(&self) -> &'static str {
        match self {
            Self::Top(_) => "",
            Self::Buffer(_) => "buffer",
            Self::Dispatch(_) => "dispatch",
            Self::Launch(_) => "dispatch.launch",
        }
    }

    /// What tells it from others of its kind: a launch is known by what it makes.
    fn name(&self) -> &str {
        match self {
            Self::Top(_) => "",
            Self::Buffer(buffer) => &buffer.name,
            Self::Dispatch(dispatch) => &dispatch.name,
            Self::Launch(launch) => launch.outputs.first().map_or("", String::as_str),
        }
    }

    fn lines(&self) -> format::Lines {
        match self {
            Self::Top(program) => format::top(program),
            Self::Buffer(buffer) => format::buffer(buffer),
            Self::Dispatch(dispatch) => format::dispatch(dispatch),
            Self::Launch(launch) => format::launch(launch),
        }
    }
}

fn write(program: &Program, old: Option<&ProgramText>, unchanged: Unchanged) -> String {
    // 1. What the old blocks said, in the order of the text. Buffers may stand among dispatches,
    //    so each kind is counted apart.
    let cut = old.map_or_else(Vec::new, |old| blocks(&old.text));
    let was = old.map_or_else(Vec::new, |old| Said::all(&old.program));
    let mut kinds = ["", "buffer", "dispatch", "dispatch.launch"]
        .map(|kind| was.iter().filter(move |said| said.header() == kind));
    let mut pairs: Vec<(&Block<'_>, &Said<'_>)> = Vec::new();
    for block in &cut {
        let kind = match block.header.as_str() {
            "" => 0,
            "buffer" => 1,
            "dispatch" => 2,
            _ => 3,
        };
        if let Some(said) = kinds[kind].next() {
            pairs.push((block, said));
        }
    }

    // 2. Each new block takes the old one of its name, once.
    let now = Said::all(program);
    let mut taken = vec![false; pairs.len()];
    let matched: Vec<Option<usize>> = now
        .iter()
        .map(|said| {
            let same = |(at, (_, was)): &(usize, &(&Block<'_>, &Said<'_>))| {
                !taken[*at] && was.header() == said.header() && was.name() == said.name()
            };
            let at = pairs.iter().enumerate().find(same)?.0;
            taken[at] = true;
            Some(at)
        })
        .collect();

    // 3. Comments of blocks that nobody took go before the next one that was.
    let mut orphans: Vec<Vec<&String>> = vec![Vec::new(); pairs.len() + 1];
    let mut waiting = Vec::new();
    for (at, (block, _)) in pairs.iter().enumerate() {
        if taken[at] {
            orphans[at].append(&mut waiting);
        } else {
            waiting.extend(block.comments());
        }
    }

    // 4. Written out.
    let mut parts: Vec<String> = Vec::new();
    for (said, at) in now.iter().zip(matched) {
        let (lines, header) = (said.lines(), said.header());
        let mut part = String::new();
        for line in at.iter().flat_map(|at| &orphans[*at]) {
            part.push_str(line);
            part.push('\n');
        }
        let old = at.map(|at| pairs[at]);
        match old {
            Some((block, was)) if unchanged == Unchanged::AsItIs && was.lines() == lines => {
                part.push_str(block.raw);
            }
            _ => part.push_str(&render(header, &lines, old.map(|(block, _)| block))),
        }
        parts.push(part);
    }
    parts.extend(waiting.into_iter().cloned());
    let mut text = parts.join("\n\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Stage;
    use crate::npu::array::Array;
    use crate::npu::lower::{Outline, lower};
    use crate::npu::program::{Method, Residency};

    fn naive(stage: Stage) -> Program {
        let outline = Outline {
            name: "tiny \"one\"".to_owned(),
            hidden: 128,
            intermediate: 256,
            layers: 4,
            heads: 2,
            kv_heads: 1,
            head_dim: 64,
            vocab: 512,
            qkv_bias: true,
            qk_norm: true,
        };
        lower(&outline, &Array::xdna2(), stage, 512, 640).0
    }

    fn read_back(text: &str) -> Program {
        let (parsed, findings) = ProgramText::parse("program/prefill.toml", text);
        parsed.unwrap_or_else(|| panic!("{findings:?}\n{text}")).program
    }

    #[test]
    fn what_is_written_reads_the_same() {
        for stage in Stage::ALL {
            let text = ProgramText::new(naive(stage));
            assert_eq!(&read_back(text.text()), text.program());
            assert_eq!(format("x", text.text()).as_deref(), Ok(text.text()));
        }
    }

    #[test]
    fn a_change_touches_its_own_lines() {
        let before = ProgramText::new(naive(Stage::Prefill));
        let mut program = before.program().clone();
        let weight = program.buffers.iter_mut().find(|b| b.name == "attn_q.weight").unwrap();
        weight.residency = Residency::Static;
        let after = before.with(&program);
        let pairs = before.text().lines().zip(after.text().lines());
        let changed: Vec<_> = pairs.filter(|(a, b)| a != b).collect();
        assert_eq!(changed, [("residency = \"activation\"", "residency = \"static\"")]);
        assert_eq!(after.with(before.program()).text(), before.text());
    }

    #[test]
    fn comments_outlive_their_block() {
        let clean = ProgramText::new(naive(Stage::Prefill));
        let text = clean
            .text()
            .replace("[[dispatch]]\nname = \"q\"", "# Why q.\n[[dispatch]]\nname = \"q\" # here");
        let text = format!("# Mine.\n{text}# The end.\n");
        let parsed = ProgramText::parse("x", &text).0.unwrap();
        let mut program = parsed.program().clone();
        program.dispatches.retain(|dispatch| dispatch.name != "q");
        let after = parsed.with(&program);
        for comment in
            ["# Mine.\nstage", "# Why q.\n# here\n[[dispatch]]\nname = \"k\"", "# The end."]
        {
            assert!(after.text().contains(comment), "{comment}\n{}", after.text());
        }
        assert_eq!(read_back(after.text()), program);
    }

    #[test]
    fn own_spacing_stays_until_it_is_formatted() {
        let clean = ProgramText::new(naive(Stage::Decode));
        let text = clean.text().replace("layers = 4", "layers   =   4   # four");
        let parsed = ProgramText::parse("x", &text).0.unwrap();
        assert_eq!(parsed.with(parsed.program()).text(), text);
        assert!(parsed.formatted().text().contains("\nlayers = 4 # four\n"));
    }

    #[test]
    fn slips_are_told_with_their_place() {
        let clean = ProgramText::new(naive(Stage::Prefill));
        let check = |from: &str, to: &str, expected: &str| {
            let text = clean.text().replacen(from, to, 1);
            let (parsed, findings) = ProgramText::parse("p.toml", &text);
            assert!(parsed.is_none(), "{to}");
            let told = findings[0].to_string();
            assert!(told.contains(expected), "{to}: {told}");
        };
        check("residency =", "residancy =", "did you mean `residency`?");
        check("residency =", "residancy =", "p.toml:14:1");
        check("\"activation\"", "\"activatoin\"", "did you mean `activation`?");
        check("\"drain\"", "\"drian\"", "did you mean `drain`?");
        check("\"rms-norm\"", "\"rmsnorm\"", "did you mean `rms-norm`?");
        check("rows = 512", "row = 512", "did you mean `rows`?");
        check("herd = [8, 1]", "herd = [8]", "columns and rows");
        check("layers = 4", "layers = -4", "a whole number");
        check("layers = 4", "layers = \"4\"", "a whole number");
        check("heads = 2\n", "", "`heads` is missing");
        check("layers = 4", "layers = 4 4", "p.toml:3:10");
        check("\"rope-table\"", "\"attn_q.weight\"", "write a weight as");
        check("host = \"embed\"\n", "", "or with `host`");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(text in "[\\[\\]{}=\"'#a-c \\n.0-9]{0,80}") {
            let _ = blocks(&text);
            let _ = ProgramText::parse("x", &text);
        }

        /// Comments and blank lines between any lines are kept, and mean nothing.
        #[test]
        fn comments_survive_any_change(at in prop::collection::vec(0_usize..400, 1..12), drop in 0_usize..18) {
            let clean = ProgramText::new(naive(Stage::Prefill));
            let mut lines: Vec<String> = clean.text().lines().map(str::to_owned).collect();
            for (number, at) in at.iter().enumerate() {
                let line = at % lines.len();
                let comment = format!("# note {number}.");
                match number % 3 {
                    0 => lines.insert(line, comment),
                    1 => lines.insert(line, format!("\n{comment}\n")),
                    _ if lines[line].is_empty() || lines[line].contains('#') => lines.insert(line, comment),
                    _ => lines[line] = format!("{} {comment}", lines[line]),
                }
            }
            let text = lines.join("\n") + "\n";
            let parsed = ProgramText::parse("x", &text).0.unwrap();
            prop_assert_eq!(parsed.program(), clean.program());
            let mut program = parsed.program().clone();
            program.dispatches.remove(drop % program.dispatches.len());
            program.heads += 1;
            for dispatch in &mut program.dispatches {
                let Work::Launches(launches) = &mut dispatch.work else { continue };
                if let crate::npu::program::Kernel::Gemm { method, .. } = &mut launches[0].kernel {
                    *method = Method::Direct;
                }
            }
            let after = parsed.with(&program);
            let formatted = after.formatted();
            prop_assert_eq!(&read_back(after.text()), &program);
            prop_assert_eq!(&read_back(formatted.text()), &program);
            let again = formatted.formatted();
            prop_assert_eq!(again.text(), formatted.text());
            for number in 0..at.len() {
                let comment = format!("# note {number}.");
                prop_assert_eq!(after.text().matches(&comment).count(), 1, "{}", after.text());
                prop_assert_eq!(formatted.text().matches(&comment).count(), 1);
            }
        }
    }
}
