//! What a tool works with: the workspace, its artifacts and settings, the model and the target.

use crate::base::Progress;

/// Cheap to clone: what is big in it is shared.
#[derive(Clone, Default)]
pub struct Kit {
    pub progress: Progress,
}
