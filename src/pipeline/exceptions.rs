//! Host operators that need no person's word: the shipped table of published exceptions.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::model::{Config, Stage};

/// One operator that published deployments keep on the host, with both times.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Exception {
    /// As program files name it.
    pub operator: String,
    pub stages: Vec<Stage>,
    /// Of shapes: `any`, `one row`, `one query`, `head_dim 128`, `vocabulary below 4096`. Of
    /// values: `sinks`, where the oracle's own residual stream holds one.
    pub class: String,
    pub reason: String,
    pub host_us: f64,
    pub device_us: f64,
    pub source: String,
}

#[derive(Deserialize)]
struct Table {
    exception: Vec<Exception>,
}

pub fn exceptions() -> &'static [Exception] {
    static TABLE: OnceLock<Vec<Exception>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let table: Table = toml::from_str(include_str!("exceptions.toml"))
            .expect("a test reads the shipped table");
        table.exception
    })
}

/// The row that lets an operator of this network stay on the host.
///
/// `has_sinks` is asked only where a row hangs on it.
pub fn exception(
    operator: &str,
    stage: Stage,
    config: &Config,
    has_sinks: impl Fn() -> bool,
) -> Option<&'static Exception> {
    let fits = |row: &Exception| match row.class.as_str() {
        "head_dim 128" => config.head_dim == 128,
        "one query" => stage == Stage::Decode,
        "vocabulary below 4096" => config.vocab < 4096,
        "sinks" => has_sinks(),
        _ => true,
    };
    let mut rows = exceptions().iter();
    rows.find(|row| row.operator == operator && row.stages.contains(&stage) && fits(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::published;

    #[test]
    fn the_shipped_table_covers_decode_attention_and_not_that_of_prefill() {
        let config = published("llama-3.2-1b").unwrap();
        assert!(exceptions().iter().all(|row| !row.reason.is_empty() && !row.source.is_empty()));
        let find = |operator, stage| exception(operator, stage, &config, || false);
        assert!(find("attention", Stage::Decode).is_some());
        assert!(find("attention", Stage::Prefill).is_none());
        assert!(find("transpose", Stage::Prefill).is_none(), "head_dim is 64");
        assert!(find("silu-mul", Stage::Decode).is_none());
        for stage in Stage::ALL {
            assert!(find("add", stage).is_none(), "nothing is lost where there is no sink");
            assert!(exception("add", stage, &config, || true).is_some());
        }
    }
}
