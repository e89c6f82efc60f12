//! Which moves are worth making: legal ones first, ranked by what the cost model predicts.

use serde::Serialize;

use super::array::Array;
use super::moves::Site;
use super::profile::Cost;
use super::program::Program;
use crate::base::Hash;

/// A move at a site, and what it is predicted to bring.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    #[serde(rename = "move")]
    pub name: &'static str,
    pub site: Site,
    /// Predicted time saved in one call of the program. Of a move that pays only with another
    /// after it (`then`), what both save together.
    pub gain_us: f64,
    /// The gain of this move alone by category; it may be a loss where `then` is set.
    pub gain: Cost,
    pub then: Option<String>,
    /// Whether the program after it breaks no rule that it did not break before.
    pub legal: bool,
    /// Hash of the program after it, names of dispatches and order of buffers apart: moves of
    /// equal effect have the same.
    pub effect: Hash,
    pub words: String,
}

/// The best `limit` of the named moves, best first; all moves where no name is given.
/// `context` is the number of tokens that a decode call attends to.
pub fn suggest(
    _program: &Program,
    _array: &Array,
    _context: usize,
    _moves: &[&str],
    _limit: usize,
) -> Vec<Suggestion> {
    Vec::new()
}
