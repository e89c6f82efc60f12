//! `open` and `resume`: goes on with a session where its log ends.

use std::path::{Path, PathBuf};

use clap::Args;

use super::deploy::known_stop;
use super::error::Problem;
use super::face::{self, Face};
use super::places;
use crate::runtime::{self, Request, World};
use crate::session::{Replay, find};
use crate::workspace::{SETTINGS, Settings};

/// Go on with a session where its log ends
#[derive(Args)]
#[command(after_help = "Exit codes as of `deploy`.\n\nExamples:\n  \
    pilotfish resume tiny-llama-xdna2\n  \
    pilotfish resume 0068ab --headless --autonomy auto\n  \
    pilotfish open tiny-llama-xdna2")]
pub(super) struct Resume {
    /// A workspace, a session's folder, or the beginning of its id
    session: String,
    /// Moves the slider first: observe, guide, edit, phase or auto
    #[arg(long, value_name = "STOP")]
    autonomy: Option<String>,
    /// Nobody is there: needs the stop auto
    #[arg(long)]
    headless: bool,
    /// One new fact a line (with --headless)
    #[arg(long)]
    json: bool,
    /// Words to go on with, for a session that waits for them
    #[arg(long, value_name = "TEXT")]
    say: Option<String>,
}

impl Resume {
    pub(super) fn of(folder: &Path) -> Self {
        let session = folder.display().to_string();
        Self { session, autonomy: None, headless: false, json: false, say: None }
    }

    pub(super) fn run(self) -> anyhow::Result<u8> {
        let face = Face::of(self.headless, self.json)?;
        let autonomy = self.autonomy.as_deref().map(known_stop).transpose()?;
        let world = places::world(face.presence())?;
        let folder = match find(&self.session, &world.workspaces, &world.recordings) {
            Ok(folder) => places::whole(&folder),
            Err(error) => return self.begin(face, &world).unwrap_or_else(|| Err(error.into())),
        };
        let (replay, _) = Replay::open(&folder)?;
        let state = replay.state();
        if state.facts > 0 {
            face.agree(autonomy.unwrap_or(state.autonomy))?;
        }
        let say = self.say;
        face::live(face, move || {
            let opened = runtime::resume(&folder, autonomy, &world)?;
            if let Some(words) = say {
                let _ = opened.handle.try_send(Request::Say(words)); // It has just begun to listen.
            }
            Ok(opened)
        })
    }

    /// A workspace whose settings were written, and nothing after them: killed at once. Its first
    /// session begins now.
    fn begin(&self, face: Face, world: &World) -> Option<anyhow::Result<u8>> {
        let root = PathBuf::from(&self.session);
        let text = std::fs::read_to_string(root.join(SETTINGS)).ok()?;
        let (mut settings, findings) = Settings::parse(&text);
        if let Some(finding) = findings.iter().find(|finding| finding.is_error()) {
            return Some(Err(Problem::usage(finding.to_string(), "")));
        }
        if let Some(stop) = &self.autonomy {
            settings.autonomy.clone_from(stop);
        }
        let stop = known_stop(&settings.autonomy).and_then(|stop| face.agree(stop));
        if let Err(error) = stop {
            return Some(Err(error));
        }
        let world = world.clone();
        Some(face::live(face, move || Ok(runtime::create(&root, &settings, &world)?)))
    }
}
