//! Minds that choose the next call.

mod driver;

mod playbook;
mod walk;

mod follow;
mod improve;
mod template;

mod recorded;

pub use driver::{Driver, Outcomes, Prompt, Reply, ReplyStream};
pub use playbook::Playbook;
pub use recorded::Recorded;
