//! `status`: how far a workspace is, in a moment.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::error::{Problem, mention};
use super::output;
use super::places;
use crate::session::{Replay, Store, find};
use crate::workspace::PRIVATE;

/// How far a workspace is: phase, waiting approval, last gate, best predicted time
#[derive(Args)]
#[command(after_help = "Exit codes: 0, or 2 if there is no session.\n\nExamples:\n  \
    pilotfish status\n  pilotfish status tiny-llama-xdna2 --json")]
pub(super) struct Status {
    /// A workspace or a session
    #[arg(default_value = ".")]
    session: String,
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let folder = self.folder()?;
        let (replay, findings) = Replay::open(&folder)?;
        mention(&findings);
        let state = replay.state();
        let best =
            |stage: &str| state.trajectory.best(stage).map(|step| step.profiled.cost.total_us());
        let asking: Vec<_> = state
            .asking()
            .map(|(call, why)| json!({ "call": call.id, "tool": call.tool, "why": why }))
            .collect();
        let last = state.judgements.last().map(|(_, judged)| judged);
        if self.json {
            output::json(&json!({
                "session": folder.file_name().unwrap_or_default().to_string_lossy(),
                "model": state.model,
                "target": state.target,
                "autonomy": state.autonomy,
                "phase": state.phase,
                "phase_number": state.phase.number(),
                "busy": state.busy,
                "waiting": asking,
                "blocker": state.blocker,
                "last_gate": last.map(|judged| json!({
                    "gate": judged.gate,
                    "verdict": judged.verdict,
                    "margin": judged.margin,
                    "headline": judged.headline,
                })),
                "best_us": { "prefill": best("prefill"), "decode": best("decode") },
                "facts": state.facts,
                "last": state.last,
            }))?;
            return Ok(0);
        }
        let (number, title) = (state.phase.number(), state.phase.title());
        output::say(&format!("{} → {}, autonomy {}", state.model, state.target, state.autonomy));
        output::say(&format!(
            "phase {number} · {title}{}",
            if state.busy { ", at work" } else { "" }
        ));
        for (call, why) in state.asking() {
            output::say(&format!("waits for you: `{}` {why}", call.tool));
        }
        if let Some(why) = &state.blocker {
            output::say(&format!("blocked: {why}"));
        }
        if let Some(judged) = last {
            output::say(&format!(
                "last gate: {} {} · {}",
                judged.gate, judged.verdict, judged.headline
            ));
        }
        for stage in ["prefill", "decode"] {
            if let Some(us) = best(stage) {
                output::say(&format!("{stage}: {:.3} ms, predicted", us / 1e3));
            }
        }
        Ok(0)
    }

    fn folder(&self) -> anyhow::Result<PathBuf> {
        let is_here = PathBuf::from(&self.session).is_dir();
        if is_here && !PathBuf::from(&self.session).join("log.jsonl").is_file() {
            let sessions = Store::of(PathBuf::from(&self.session).join(PRIVATE).join("sessions"));
            let newest = sessions.list()?.into_iter().next().map(|header| header.folder);
            return newest.ok_or_else(|| {
                Problem::usage(
                    format!("there is no session in `{}`", self.session),
                    "name a workspace: `pilotfish status DIR`",
                )
            });
        }
        Ok(find(&self.session, &places::workspaces().list(), &places::recordings())?)
    }
}
