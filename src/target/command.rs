//! A project of its own: its commands are named, and each that is missing is told.

use std::path::{Path, PathBuf};

use super::target::{Run, Target, TargetError};
use crate::base::{Finding, Progress, Stop};
use crate::model::Workload;
use crate::workspace::{SETTINGS, Snapshot};

/// Commands that a project declares: programs, without their arguments, and where to look for them.
///
/// It finds what is missing. Running them is not built yet, and `run` says so.
pub struct Command {
    programs: Vec<PathBuf>,
    search: Vec<PathBuf>,
}

impl Command {
    /// `search` are the folders of `PATH`; a program with a slash is looked for in the first.
    pub fn new(programs: Vec<PathBuf>, search: Vec<PathBuf>) -> Self {
        Self { programs, search }
    }

    fn is_found(&self, program: &Path) -> bool {
        self.search.iter().any(|folder| folder.join(program).is_file())
    }
}

impl Target for Command {
    fn fingerprint(&self) -> String {
        "command · unknown".into()
    }

    fn check(&self, _: &Snapshot) -> Vec<Finding> {
        if self.programs.is_empty() {
            let finding = Finding::error(SETTINGS, "no commands are declared for this target");
            return vec![finding.rule("command-none").hint("use `target = \"sim\"`")];
        }
        let missing = self.programs.iter().filter(|program| !self.is_found(program));
        missing
            .map(|program| {
                let text = format!("`{}` is not found", program.display());
                let hint = "install it, or correct the name";
                Finding::error(SETTINGS, text).rule("command-missing").hint(hint)
            })
            .collect()
    }

    fn run(
        &self,
        _: &Snapshot,
        _: &Workload,
        _: &[&str],
        _: &Progress,
        _: &Stop,
    ) -> Result<Run, TargetError> {
        let why = "declared commands are found, and not yet started".into();
        Err(TargetError::Absent { target: "command", why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_program_is_one_finding() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("here"), "").unwrap();
        let programs = ["here", "gone", "lost"].map(PathBuf::from).to_vec();
        let target = Command::new(programs, vec![folder.path().to_owned()]);
        let findings = target.check(&Snapshot::in_memory([]));
        let messages: Vec<&str> = findings.iter().map(|finding| &*finding.message).collect();
        assert_eq!(messages, ["`gone` is not found", "`lost` is not found"]);
        let none = Command::new(Vec::new(), Vec::new()).check(&Snapshot::in_memory([]));
        assert_eq!(none.len(), 1);
    }
}
