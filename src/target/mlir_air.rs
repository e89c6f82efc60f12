//! A checkout of the open compiler stack: what of it, and of its toolchain, is here.

use std::path::{Path, PathBuf};

use super::target::{Run, Target, TargetError};
use crate::base::{Finding, Progress, Stop};
use crate::model::Workload;
use crate::workspace::Snapshot;

/// The `make` targets that a deployment has.
const TARGETS: [&str; 5] = ["compile", "run", "verify", "diagnosis", "profile"];
/// Programs of the toolchain, and where each comes from.
const TOOLS: [(&str, &str); 4] = [
    ("make", "install GNU make"),
    ("aie-opt", "build the compiler and put its `bin` into PATH"),
    ("air-opt", "build the compiler and put its `bin` into PATH"),
    ("xrt-smi", "install the device's runtime and driver"),
];

/// It finds what is missing. Running a checkout is not built yet, and `run` says so.
pub struct MlirAir {
    checkout: PathBuf,
    search: Vec<PathBuf>,
}

impl MlirAir {
    /// `checkout` is the folder of one deployment, `search` the folders of `PATH`.
    pub fn new(checkout: PathBuf, search: Vec<PathBuf>) -> Self {
        Self { checkout, search }
    }

    fn makefile(&self) -> Vec<Finding> {
        let path = self.checkout.join("Makefile");
        let place = path.display().to_string();
        let Ok(text) = std::fs::read_to_string(&path) else {
            let finding = Finding::error(place, "the checkout has no readable `Makefile`");
            let hint = "name the folder of one deployment inside the checkout";
            return vec![finding.rule("mlir-air-checkout").hint(hint)];
        };
        let has = |target: &&str| {
            let rule = |line: &str| {
                line.split_once(':').is_some_and(|(names, rest)| {
                    !rest.starts_with('=') && names.split_whitespace().any(|name| name == *target)
                })
            };
            text.lines().any(rule)
        };
        let missing = TARGETS.iter().filter(|target| !has(target));
        missing
            .map(|target| {
                let text = format!("the `Makefile` has no target `{target}`");
                let hint = "every deployment has compile, run, verify, diagnosis and profile";
                Finding::error(&place, text).rule("mlir-air-target").hint(hint)
            })
            .collect()
    }

    fn is_found(&self, tool: &str) -> bool {
        self.search.iter().any(|folder| folder.join(Path::new(tool)).is_file())
    }
}

impl Target for MlirAir {
    fn fingerprint(&self) -> String {
        "mlir-air · unknown".into()
    }

    fn check(&self, _: &Snapshot) -> Vec<Finding> {
        let mut findings = self.makefile();
        for (tool, hint) in TOOLS.iter().filter(|(tool, _)| !self.is_found(tool)) {
            let text = format!("`{tool}` is not in PATH");
            findings.push(Finding::error("", text).rule("mlir-air-tool").hint(*hint));
        }
        findings
    }

    fn run(
        &self,
        _: &Snapshot,
        _: &Workload,
        _: &[&str],
        _: &Progress,
        _: &Stop,
    ) -> Result<Run, TargetError> {
        let why = "a checkout is examined, and not yet driven".into();
        Err(TargetError::Absent { target: "mlir-air", why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_piece_is_one_finding() {
        let folder = tempfile::tempdir().unwrap();
        let snapshot = Snapshot::in_memory([]);
        let check = || {
            let target = MlirAir::new(folder.path().to_owned(), vec![folder.path().to_owned()]);
            target.check(&snapshot).iter().map(|f| f.rule.clone()).collect::<Vec<_>>()
        };
        assert_eq!(check().iter().filter(|rule| *rule == "mlir-air-checkout").count(), 1);
        assert_eq!(check().len(), 5);
        let text = "CC := cc\ncompile: x\nrun verify: compile\n\tdo\ndiagnosis:\nprofile:\n";
        std::fs::write(folder.path().join("Makefile"), text).unwrap();
        for (tool, _) in TOOLS {
            std::fs::write(folder.path().join(tool), "").unwrap();
        }
        assert!(check().is_empty());
        std::fs::write(folder.path().join("Makefile"), "compile:\nrun := 1\n").unwrap();
        assert_eq!(check().len(), 4);
    }
}
