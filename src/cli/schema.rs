//! `schema`: the JSON that others may rely on, as JSON Schema.

use clap::Args;

use super::error::Problem;
use super::output;
use crate::base::nearest;

/// Print the JSON Schema of what a command prints
#[derive(Args)]
#[command(after_help = "Without a name: the names.\n\nExample:\n  pilotfish schema event")]
pub(super) struct Schema {
    name: Option<String>,
}

macro_rules! schemas {
    ($($name:literal)+) => {
        const SCHEMAS: &[(&str, &str)] = &[$((
            $name,
            include_str!(concat!("schema/", $name, ".json")),
        )),+];
    };
}

schemas! { "event" "judge" "oracle" "npu-cost" "npu-floor" "npu-numerics" "status" "model-info" }

impl Schema {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let names = SCHEMAS.iter().map(|(name, _)| *name);
        let Some(name) = self.name else {
            names.for_each(output::say);
            return Ok(0);
        };
        let Some((_, text)) = SCHEMAS.iter().find(|(known, _)| *known == name) else {
            let hint = match nearest(&name, names.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the schemas are {}", names.collect::<Vec<_>>().join(", ")),
            };
            return Err(Problem::usage(format!("there is no schema `{name}`"), hint));
        };
        output::bytes(text.as_bytes());
        Ok(0)
    }
}
