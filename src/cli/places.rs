//! Where things are on this machine: known workspaces, recordings, a person's own skills.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use etcetera::BaseStrategy;

use crate::base::{Clock, Ids, StillClock, SystemClock, Time};
use crate::policy::Presence;
use crate::runtime::World;
use crate::session::Workspaces;

const OURS: &str = "pilotfish";

/// The list of workspaces that were opened before.
pub(super) fn workspaces() -> Workspaces {
    let state = env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let state = state.or_else(|| Some(home()?.join(".local/state")));
    Workspaces::of(state.unwrap_or_default().join(OURS).join("workspaces"))
}

/// Folders `sessions`: above the executable, where the program was built, in the data folder.
pub(super) fn recordings() -> Vec<PathBuf> {
    let executable = env::current_exe().unwrap_or_default();
    let above = executable.ancestors().skip(1).take(5).map(Path::to_owned);
    let built = option_env!("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let data = etcetera::choose_base_strategy().ok().map(|base| base.data_dir().join(OURS));
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in above.chain(built).chain(data).map(|folder| folder.join("sessions")) {
        if folder.is_dir() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// What a session is given of this machine.
pub(super) fn world(presence: Presence) -> anyhow::Result<World> {
    let config = etcetera::choose_base_strategy().ok().map(|base| base.config_dir().join(OURS));
    let (clock, ids) = time()?;
    Ok(World {
        clock,
        ids,
        exe: env::current_exe().context("the program does not know where it is")?,
        presence,
        skills: config.map(|folder| folder.join("skills")),
        workspaces: workspaces().list(),
        recordings: recordings(),
    })
}

/// The machine's clock; a test may stop it with `PILOTFISH_CLOCK`, an RFC 3339 time, and then gets
/// the same ids and the same bytes each time.
pub(super) fn time() -> anyhow::Result<(Arc<dyn Clock>, Arc<Ids>)> {
    let Some(words) = env::var_os("PILOTFISH_CLOCK") else {
        return Ok((Arc::new(SystemClock), Arc::new(Ids::default())));
    };
    let time: Time = serde_json::from_value(words.to_string_lossy().into())
        .context("`PILOTFISH_CLOCK` is no RFC 3339 time")?;
    Ok((Arc::new(StillClock(time)), Arc::new(Ids::seeded(0))))
}

/// The whole path of something that exists.
pub(super) fn whole(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}
