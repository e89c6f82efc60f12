//! What may happen without asking.

mod footprint;
mod rule;
mod rules;

pub use footprint::Footprint;
pub use rule::rule;
pub use rules::{Presence, Rules};
