//! A program file: what a person reads and writes, together with the program that it says.

use super::dispatch::Program;
use crate::base::Finding;

/// The text of a program file, and the program in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramText {
    text: String,
    program: Program,
}

impl ProgramText {
    /// Reads a program file. `place` is the path that findings name, with line and column.
    pub fn parse(place: &str, text: &str) -> (Option<Self>, Vec<Finding>) {
        match toml::from_str(text) {
            Ok(program) => (Some(Self { text: text.to_owned(), program }), Vec::new()),
            Err(error) => (None, vec![Finding::error(place, error.to_string())]),
        }
    }

    /// A new file without comments, in canonical form.
    pub fn new(program: Program) -> Self {
        let text = toml::to_string(&program).unwrap_or_default();
        Self { text, program }
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The file after a change of the program: blocks that say the same stay byte for byte, the
    /// others are written anew with the comments that were in them.
    pub fn with(&self, program: &Program) -> Self {
        Self::new(program.clone())
    }
}

/// A program file in canonical form, comments kept: what `pilotfish fmt` writes.
pub fn format(place: &str, text: &str) -> Result<String, Vec<Finding>> {
    let (parsed, findings) = ProgramText::parse(place, text);
    parsed.map(|parsed| parsed.text).ok_or(findings)
}
