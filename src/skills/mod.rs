//! Written know-how, recipes, memory of results, and when each applies.

mod check;
mod embedded;
mod front_matter;
mod load;
mod memory;
mod recipe;
mod skill;
mod trigger;

pub use check::{Known, check};
pub use load::Library;
pub use memory::{Memory, Remembered};
pub use recipe::{Ask, Improve, Mode, Recipe, Step, Task};
pub use skill::{Origin, Skill};
pub use trigger::{Applied, Signal, Source, Trigger};
