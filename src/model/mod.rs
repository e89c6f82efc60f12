//! The network to deploy, and its FP32 oracle.

mod attention;
mod bundled;
mod cache;
mod config;
mod error;
mod fetch;
mod graph;
mod model;
mod oracle;
mod padded;
mod reference;
mod role;
mod sample;
mod stage;
mod tokenizer;
mod unpack;
mod weights;
mod workload;

pub use attention::attention;
pub use bundled::bundled_names;
pub use cache::Cache;
pub use config::{Config, Family, RopeScaling, published, published_names};
pub use error::ModelError;
pub use fetch::Hub;
pub use graph::{Graph, Kind, Operator};
pub use model::{Model, Provenance};
pub use oracle::{Fault, Logits, Oracle};
pub use padded::Padding;
pub use reference::reference;
pub use role::Role;
pub use sample::{Sampler, greedy, top};
pub use stage::Stage;
pub use tokenizer::{Message, Tokenizer};
pub use weights::{Held, Weights};
pub use workload::Workload;
