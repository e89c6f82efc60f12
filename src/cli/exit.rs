//! The codes that the program exits with.

pub(super) const FAILED: u8 = 1;
pub(super) const USAGE: u8 = 2;
pub(super) const BLOCKED: u8 = 3;
