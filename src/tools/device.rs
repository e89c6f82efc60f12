//! The tools that know the device: from the model to programs, moves, times and judgements.

use std::sync::Arc;

use super::apply_move::ApplyMove;
use super::check::Check;
use super::enter_phase::EnterPhase;
use super::floor::Floors;
use super::gate::Gate;
use super::hand::by;
use super::kernels::Kernels;
use super::lower::Lower;
use super::open_model::OpenModel;
use super::profile::Profiler;
use super::simulate::Simulate;
use super::suggest::Suggest;
use super::tool::Tool;
use super::undo_move::UndoMove;

/// In the order in which a deployment first needs them.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        by::<OpenModel>(),
        by::<Floors>(),
        by::<Lower>(),
        by::<Check>(),
        by::<Kernels>(),
        by::<Simulate>(),
        by::<Profiler>(),
        by::<Suggest>(),
        by::<ApplyMove>(),
        by::<UndoMove>(),
        by::<Gate>(),
        by::<EnterPhase>(),
    ]
}
