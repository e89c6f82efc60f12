//! Published deployments: which dispatches hand-tuned programs of such a network have.

mod build;
mod groups;

pub use build::structured;
