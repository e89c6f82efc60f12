//! The embedded target: an XDNA 2 whose numbers are simulated and whose time is predicted.

use std::sync::Arc;

use super::target::{Run, Target, TargetError};
use crate::base::{Finding, Progress, Stop};
use crate::model::{Logits, Model, Stage, Workload, greedy};
use crate::npu::{
    Array, CALIBRATION_ERROR_PCT, Machine, Program, ProgramText, SimulateError, check, cost,
};
use crate::tensor::Trace;
use crate::workspace::{Path, Snapshot};

/// Raised when a change of the simulator changes numbers or times.
const VERSION: u32 = 1;
/// Layers of the timeline that faces get.
const SHOWN_LAYERS: usize = 2;

pub struct Sim {
    model: Arc<Model>,
    array: Array,
}

impl Sim {
    pub fn new(model: Arc<Model>, array: Array) -> Self {
        Self { model, array }
    }

    /// The program of a stage as the snapshot has it.
    pub fn program(snapshot: &Snapshot, stage: Stage) -> Result<Program, Finding> {
        let place = format!("program/{stage}.toml");
        let path = Path::new(&place).map_err(|error| Finding::error(&place, error.to_string()))?;
        let text = snapshot.text(&path).map_err(|error| {
            Finding::error(&place, error.to_string()).hint("write it with `lower`")
        })?;
        let (program, findings) = ProgramText::parse(&place, &text);
        let error = || findings.into_iter().find(Finding::is_error);
        let program = program.map(|program| program.program().clone());
        program.ok_or_else(|| error().unwrap_or_else(|| Finding::error(&place, "no program")))
    }

    /// The machine on which a snapshot runs, as legal as the rules want it.
    pub fn machine(&self, snapshot: &Snapshot) -> Result<Machine, TargetError> {
        let programs = Stage::ALL.map(|stage| Self::program(snapshot, stage));
        let [prefill, decode] = match programs {
            [Ok(prefill), Ok(decode)] => [prefill, decode],
            programs => {
                let findings = programs.into_iter().filter_map(Result::err).collect();
                return Err(TargetError::Refused { findings });
            }
        };
        Ok(Machine::new(&prefill, Some(&decode), Arc::clone(&self.model), &self.array)?)
    }

    /// Tells faces where the time of a call goes.
    fn tell(&self, program: &Program, context: usize, progress: &Progress) -> crate::npu::Profile {
        let profile = cost(program, &self.array, context);
        profile.timeline(SHOWN_LAYERS).iter().for_each(|sample| progress.sample(sample));
        profile
    }
}

impl From<SimulateError> for TargetError {
    fn from(error: SimulateError) -> Self {
        match error {
            SimulateError::Stopped => Self::Stopped,
            error => Self::Refused { findings: error.findings() },
        }
    }
}

impl Target for Sim {
    fn fingerprint(&self) -> String {
        let coefficients = format!("{:?}", self.array);
        let calibration = crate::base::Hash::of(coefficients.as_bytes());
        format!(
            "sim {VERSION} · {} · calibration {} ({CALIBRATION_ERROR_PCT} %)",
            self.array.name,
            calibration.short()
        )
    }

    fn check(&self, snapshot: &Snapshot) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut programs = Vec::new();
        for stage in Stage::ALL {
            match Self::program(snapshot, stage) {
                Ok(program) => {
                    findings.extend(check(&program, &self.array));
                    programs.push(program);
                }
                Err(finding) => findings.push(finding),
            }
        }
        if let ([prefill, decode], false) = (&*programs, findings.iter().any(Finding::is_error)) {
            let model = Arc::clone(&self.model);
            let machine = Machine::unchecked(prefill, Some(decode), model, &self.array);
            findings.extend(machine.err().map(|error| error.findings()).unwrap_or_default());
        }
        findings
    }

    fn run(
        &self,
        snapshot: &Snapshot,
        workload: &Workload,
        wanted: &[&str],
        progress: &Progress,
        stop: &Stop,
    ) -> Result<Run, TargetError> {
        let programs = Stage::ALL.map(|stage| Self::program(snapshot, stage));
        let mut machine = self.machine(snapshot)?.stopping(stop.clone());
        let mut trace = Trace::of(wanted.iter().copied());
        let mut profiles = Vec::new();
        let [prefill, decode] = &programs;
        // 1. The prompt.
        progress.say(&format!("prefill of {} tokens", workload.prompt.len()));
        let logits = machine.prefill(&workload.prompt, Logits::Last, &mut trace)?;
        if let Ok(prefill) = prefill {
            profiles.push(self.tell(prefill, workload.prompt.len(), progress));
        }
        let mut tokens = Vec::new();
        if workload.tokens > 0 {
            tokens.push(greedy(logits.last()));
        }
        // 2. Token by token.
        while tokens.len() < workload.tokens {
            let last = tokens[tokens.len() - 1];
            tokens.push(greedy(&machine.step(last, &mut trace)?));
            progress.say(&format!("token {} of {}", tokens.len(), workload.tokens));
        }
        if let (Ok(decode), true) = (decode, tokens.len() > 1) {
            profiles.push(self.tell(decode, machine.position(), progress));
        }
        Ok(Run { trace, profiles, counters: Some(machine.counters().clone()), tokens })
    }
}
