//! What a move is.

use super::site::Site;
use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::Program;

/// A typed change of a program. It states no gain: what it is worth comes from the cost model.
pub trait Move: Sync {
    fn name(&self) -> &'static str;

    /// What it does and why that can pay, in one sentence.
    fn doc(&self) -> &'static str;

    /// Where it can be made, in the order of the program.
    fn sites(&self, program: &Program, array: &Array) -> Vec<Site>;

    /// The program after the move; a finding where the move's precondition does not hold.
    fn apply(&self, program: &Program, site: &Site, array: &Array) -> Result<Program, Finding>;

    /// The move that takes this one back, and its site, seen from the program before it.
    fn inverse(&self, before: &Program, site: &Site) -> Result<(&'static str, Site), Finding>;

    /// Moves that this one may make possible: where it costs time by itself, the search looks
    /// whether one of them pays for it.
    fn opens(&self) -> &'static [&'static str] {
        &[]
    }

    /// The move at this site in words for a person.
    fn words(&self, program: &Program, site: &Site) -> String;
}
