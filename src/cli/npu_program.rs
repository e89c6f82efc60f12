//! Program files as a person names them, and the programs in them.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::Problem;
use crate::base::Finding;
use crate::npu::{Program, ProgramText};

/// A program file, or those of a workspace.
pub(super) fn program_files(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        return ["prefill", "decode"]
            .map(|stage| path.join(format!("program/{stage}.toml")))
            .to_vec();
    }
    vec![path.to_owned()]
}

/// The program in a file, or what is wrong with its text.
pub(super) fn parse(path: &Path) -> anyhow::Result<Result<Program, Vec<Finding>>> {
    let text = fs::read_to_string(path).map_err(|error| {
        let what = format!("cannot read `{}`: {error}", path.display());
        Problem::usage(what, "name a program file, or a workspace that has `program/`")
    })?;
    let (program, findings) = ProgramText::parse(&path.display().to_string(), &text);
    match program {
        Some(program) if !findings.iter().any(Finding::is_error) => {
            Ok(Ok(program.program().clone()))
        }
        _ => Ok(Err(findings)),
    }
}

/// As `parse`, for commands that can do nothing without it.
pub(super) fn program(path: &Path) -> anyhow::Result<Program> {
    parse(path)?.map_err(|findings| {
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        Problem::usage(told.join("\n"), "")
    })
}
