//! `browse`: every session that is known, live or recorded.

use std::io::{self, IsTerminal};

use clap::Args;
use serde_json::json;

use super::output;
use super::places;
use super::replay;
use super::shelf::shelf;
use crate::session::{Header, Store, find};
use crate::workspace::PRIVATE;

/// List sessions, look through one, fork from any point of it
#[derive(Args)]
#[command(after_help = "Exit codes: 0, or 2 if there is no such session.\n\nExamples:\n  \
    pilotfish browse\n  pilotfish browse --json\n  pilotfish browse tiny-llama")]
pub(super) struct Browse {
    /// Look through this one at once
    session: Option<String>,
    /// Print the list, one line of JSON each
    #[arg(long)]
    json: bool,
}

impl Browse {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let has_screen = io::stdout().is_terminal() && io::stdin().is_terminal();
        if let (Some(word), true) = (&self.session, has_screen) {
            let folder = find(word, &places::workspaces().list(), &places::recordings())?;
            return replay::screen(&folder);
        }
        if has_screen && !self.json {
            return shelf(Vec::new());
        }
        for (header, recorded) in headers(self.session.as_deref())? {
            if self.json {
                output::json(&json!({
                    "id": header.id, "folder": header.folder, "recorded": recorded,
                    "model": header.model, "target": header.target, "agent": header.agent,
                    "phase": header.phase, "began": header.began, "last": header.last,
                    "facts": header.facts, "forked": header.forked,
                }))?;
                continue;
            }
            let Header { id, model, phase, last, folder, .. } = header;
            let (number, folder) = (phase.number(), folder.display());
            output::say(&format!("{id:<20} {model:<20} phase {number}  {last}  {folder}"));
        }
        Ok(0)
    }
}

/// Every session there is, or the one that a word names; recordings last.
fn headers(word: Option<&str>) -> anyhow::Result<Vec<(Header, bool)>> {
    let (workspaces, recordings) = (places::workspaces().list(), places::recordings());
    if let Some(word) = word {
        let folder = find(word, &workspaces, &recordings)?;
        return Ok(vec![(Header::read(&folder)?, false)]);
    }
    let mut headers = Vec::new();
    for root in &workspaces {
        let listed = Store::of(root.join(PRIVATE).join("sessions")).list()?;
        headers.extend(listed.into_iter().map(|header| (header, false)));
    }
    for folder in &recordings {
        headers.extend(Store::of(folder).list()?.into_iter().map(|header| (header, true)));
    }
    Ok(headers)
}
