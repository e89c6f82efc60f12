//! Where a move is made, as data: the `site` argument of tools is this as JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::Finding;
use crate::npu::program::{Layout, Residency};

/// A place in a program. Names are those of its dispatches and buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Site {
    /// Neighbouring dispatches, and the name of the one that they become.
    Merge(Merge),
    /// A dispatch, and the parts that it falls into.
    Split(Split),
    /// Buffers that get another residency.
    Reside(Reside),
    /// Launches of a dispatch that get other tiles.
    Retile(Retile),
    /// The dispatch of attention, and the layout that its operands get.
    Align(Align),
    /// How many query heads are deployed.
    Heads(Heads),
    /// How wide a dimension is deployed.
    Pad(Pad),
    /// One dispatch that goes to the array or to the host.
    Place(Place),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Merge {
    pub dispatches: Vec<String>,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    pub dispatch: String,
    pub parts: Vec<Part>,
}

/// One part of a dispatch: its name, and how many launches it takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub name: String,
    pub launches: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reside {
    pub buffers: Vec<String>,
    pub residency: Residency,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retile {
    pub dispatch: String,
    pub tilings: Vec<Retiling>,
}

/// The launch that makes a value, and its tiling as text: `drain 32/256/32/128 on 8x4`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retiling {
    pub makes: String,
    pub tiling: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Align {
    pub attention: String,
    pub layout: Layout,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heads {
    pub heads: usize,
    /// Launches whose tiling is not left to the rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tilings: Vec<Retiling>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pad {
    /// `hidden` or `intermediate`.
    pub dimension: String,
    pub width: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tilings: Vec<Retiling>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    pub dispatch: String,
    /// Launches whose tiling is not left to the rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tilings: Vec<Retiling>,
    /// The name of the dispatch afterwards, where the rule would give another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The layout of attention's operands on the array: heads-first where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// The vocabulary of an LM head whose parts are padded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
}

impl Site {
    pub fn parse(json: &Value) -> Result<Self, Finding> {
        serde_json::from_value(json.clone()).map_err(|_| {
            let text = format!("`{json}` is no site of a move");
            let hint = "pass the `site` of a suggestion as it is";
            Finding::error("site", text).rule("site").hint(hint)
        })
    }

    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
