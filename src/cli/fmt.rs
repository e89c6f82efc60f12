//! `fmt`: program files in canonical form, with every comment kept.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;

use clap::Args;

use super::error::Problem;
use super::exit::{FAILED, USAGE};
use super::npu_program::program_files;
use super::output;
use crate::base::file;
use crate::npu::format;

/// Write program files in canonical form, comments kept
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0, 1 if --check finds a file that is not canonical, 2 for a file \
    that is no program.\n\nExamples:\n  pilotfish fmt tiny-llama-xdna2\n  \
    pilotfish fmt --check tiny-llama-xdna2/program/prefill.toml\n  pilotfish fmt - < prefill.toml"
)]
pub(super) struct Fmt {
    /// Program files or workspaces; `-` reads stdin and writes stdout
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Change nothing; say which files are not canonical
    #[arg(long)]
    check: bool,
}

impl Fmt {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let mut code = 0;
        for path in &self.paths {
            if path.as_os_str() == "-" {
                let mut text = String::new();
                io::stdin().read_to_string(&mut text)?;
                match format("stdin", &text) {
                    Ok(text) => output::bytes(text.as_bytes()),
                    Err(findings) => {
                        super::error::mention(&findings);
                        code = USAGE;
                    }
                }
                continue;
            }
            for path in program_files(path) {
                code = code.max(self.one(&path)?);
            }
        }
        Ok(code)
    }

    fn one(&self, path: &std::path::Path) -> anyhow::Result<u8> {
        let old = fs::read_to_string(path).map_err(|error| {
            let what = format!("cannot read `{}`: {error}", path.display());
            Problem::usage(what, "name a program file, or a workspace that has `program/`")
        })?;
        let text = match format(&path.display().to_string(), &old) {
            Ok(text) => text,
            Err(findings) => {
                super::error::mention(&findings);
                return Ok(USAGE);
            }
        };
        if text == old {
            return Ok(0);
        }
        if self.check {
            output::say(&format!("{} is not canonical", path.display()));
            return Ok(FAILED);
        }
        let staging = path.with_extension("new");
        file::replace(path, text.as_bytes(), &staging, "tool-write")?;
        let _ = fs::remove_dir(staging);
        output::say(&format!("{} was rewritten", path.display()));
        Ok(0)
    }
}
