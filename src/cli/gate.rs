//! `gate`: the gates there are, how each stands in a workspace, and one judged now.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use super::error::Problem;
use super::judge::Judge;
use super::output;
use crate::base::nearest;
use crate::pipeline::progress::Standing;
use crate::pipeline::{Gate, gates, needs};
use crate::session::Phase;

/// The gates: list them, show one, have one judged
#[derive(Args)]
#[command(
    after_help = "Exit codes: as of `judge` for `run`; else 0, or 2 for what is not there.\n\n\
    Examples:\n  pilotfish gate list tiny-llama-xdna2\n  pilotfish gate show logits\n  \
    pilotfish gate run logits tiny-llama-xdna2"
)]
pub(super) struct Gates {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Every gate, with how it stands in a workspace
    List {
        workspace: Option<PathBuf>,
        #[arg(long)]
        json: bool,
    },
    /// One gate: its claim, its last receipt and its mutants
    Show {
        gate: String,
        workspace: Option<PathBuf>,
        #[arg(long)]
        json: bool,
    },
    /// Have one gate judged now
    Run {
        gate: String,
        #[arg(default_value = ".")]
        workspace: PathBuf,
        #[arg(long)]
        json: bool,
    },
}

impl Gates {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        match self.command {
            Command::List { workspace, json } => list(workspace.as_deref(), json),
            Command::Show { gate, workspace, json } => {
                show(known(&gate)?, workspace.as_deref(), json)
            }
            Command::Run { gate, workspace, json } => {
                let gate = known(&gate)?.id.to_owned();
                Judge::of(workspace, gate, json).run()
            }
        }
    }
}

fn known(id: &str) -> anyhow::Result<&'static Gate> {
    crate::pipeline::gate(id).ok_or_else(|| {
        let ids = gates().iter().map(|gate| gate.id);
        let hint = match nearest(id, ids.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the gates are {}", ids.collect::<Vec<_>>().join(", ")),
        };
        Problem::usage(format!("there is no gate `{id}`"), hint)
    })
}

fn standing(workspace: Option<&Path>) -> anyhow::Result<Option<Standing>> {
    let standing = workspace.map(Standing::of).transpose();
    standing.map_err(|why| Problem::usage(why, "name the folder of a deployment"))
}

/// How a gate stands for a phase: the verdict, or that it is stale, or that there is none.
fn stands(standing: &Standing, phase: Phase, id: &str) -> String {
    match (standing.fresh(phase, id), standing.last(phase, id)) {
        (Some((_, receipt)), _) => format!("{} · {}", receipt.verdict, receipt.headline),
        (None, Some((_, receipt))) => format!("stale, it was {}", receipt.verdict),
        (None, None) => "not judged".to_owned(),
    }
}

fn list(workspace: Option<&Path>, as_json: bool) -> anyhow::Result<u8> {
    let standing = standing(workspace)?;
    let mut rows = Vec::new();
    for phase in Phase::ALL {
        for id in needs(phase) {
            let claim = crate::pipeline::gate(id).map_or("", |gate| gate.claim);
            let how = standing.as_ref().map(|standing| stands(standing, phase, id));
            rows.push((phase, *id, claim, how));
        }
    }
    if as_json {
        let rows = rows.iter().map(|(phase, id, claim, how)| {
            json!({ "phase": phase, "gate": id, "claim": claim, "standing": how })
        });
        output::json(&rows.collect::<Vec<_>>())?;
        return Ok(0);
    }
    for (phase, id, claim, how) in rows {
        let words = how.unwrap_or_else(|| claim.to_owned());
        output::say(&format!("{} {id:<10} {words}", phase.number()));
    }
    Ok(0)
}

fn show(gate: &Gate, workspace: Option<&Path>, as_json: bool) -> anyhow::Result<u8> {
    let standing = standing(workspace)?;
    let asks = Phase::ALL.into_iter().filter(|phase| needs(*phase).contains(&gate.id));
    let asks: Vec<Phase> = asks.collect();
    let last = standing
        .as_ref()
        .and_then(|standing| asks.iter().rev().find_map(|phase| standing.last(*phase, gate.id)));
    if as_json {
        output::json(&json!({
            "gate": gate.id, "claim": gate.claim, "version": gate.version, "phases": asks,
            "looks_at": gate.looks_at,
            "receipt": last.map(|(hash, receipt)| json!({ "hash": hash, "receipt": receipt })),
        }))?;
        return Ok(0);
    }
    let phases: Vec<String> = asks.iter().map(|phase| phase.number().to_string()).collect();
    output::say(&format!("{}: {}", gate.id, gate.claim));
    output::say(&format!("asked for in phase {}", phases.join(", ")));
    output::say(&format!("looks at {}", gate.looks_at.join(", ")));
    let Some((hash, receipt)) = last else { return Ok(0) };
    output::say(&format!("last: {} · {}", receipt.verdict, receipt.headline));
    output::say(&format!("receipt: {hash}"));
    for metric in &receipt.metrics {
        let kind = if metric.hard { "" } else { " (recorded)" };
        let (name, measured, threshold) = (&metric.name, metric.measured, &metric.threshold);
        output::say(&format!(
            "  {name} {measured:.6} {threshold} margin {:+.3}{kind}",
            metric.margin
        ));
    }
    for mutant in &receipt.mutants {
        let fate = match mutant.killed {
            Some(true) => "killed by",
            Some(false) => "SURVIVED",
            None => "not applicable:",
        };
        output::say(&format!("  mutant {}: {fate} {}", mutant.id, mutant.by));
    }
    if !receipt.mutants_note.is_empty() {
        output::say(&format!("  mutants: {}", receipt.mutants_note));
    }
    Ok(0)
}
