//! The names that recipes may use.

use crate::pipeline::gates;
use crate::skills::{Known, Library};
use crate::tools::toolbox;

/// Tools and gates are ours to tell; the moves are the device's.
pub fn known(moves: impl IntoIterator<Item = &'static str>, library: &Library) -> Known {
    Known {
        tools: toolbox().specs().iter().map(|spec| spec.name.to_owned()).collect(),
        moves: moves.into_iter().map(str::to_owned).collect(),
        gates: gates().iter().map(|gate| gate.id.to_owned()).collect(),
        skills: library.skills().iter().map(|skill| skill.name.clone()).collect(),
    }
}
