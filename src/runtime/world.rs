//! What a session is given of the machine: time, ids, the program itself, and where things are.

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::{Clock, Ids};
use crate::policy::Presence;

/// Handed in, so that tests give their own and get the same bytes every time.
#[derive(Clone)]
pub struct World {
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<Ids>,
    /// The program, started again as the evaluator.
    pub exe: PathBuf,
    pub presence: Presence,
    /// The person's own skills, if there are any.
    pub skills: Option<PathBuf>,
    /// Roots of known workspaces, and folders of recordings: where `replay:<session>` looks.
    pub workspaces: Vec<PathBuf>,
    pub recordings: Vec<PathBuf>,
}
