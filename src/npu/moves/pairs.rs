//! Names of moves that take each other back: each of a pair must say the other's.

pub(super) const MERGE_DISPATCHES: &str = "merge-dispatches";
pub(super) const SPLIT_DISPATCH: &str = "split-dispatch";

pub(super) const MOVE_TO_NPU: &str = "move-to-npu";
pub(super) const MOVE_TO_HOST: &str = "move-to-host";
