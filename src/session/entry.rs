//! One line of the log.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::Event;
use crate::base::{Hash, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Author {
    User,
    Agent,
    Evaluator,
    System,
}

impl Author {
    /// The word used in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Evaluator => "evaluator",
            Self::System => "system",
        }
    }
}

/// One fact with its place in the log. `prev` is the hash of the line before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub seq: u64,
    pub at: Time,
    pub by: Author,
    pub prev: Hash,
    pub event: Event,
}

/// The version of the line format.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Line {
    v: u32,
    seq: u64,
    at: Time,
    by: Author,
    prev: Hash,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    event: Value,
}

impl Entry {
    /// The line, without its line feed: `{"v","seq","at","by","prev","type","event"}`.
    pub fn to_line(&self) -> String {
        let (kind, event) = match &self.event {
            Event::Unknown { kind, raw } => (kind.clone(), raw.clone()),
            known => split(known),
        };
        let Self { seq, at, by, prev, .. } = self.clone();
        let line = Line { v: VERSION, seq, at, by, prev, kind, event };
        serde_json::to_string(&line).expect("a line is plain JSON: string keys, finite depth")
    }

    /// Reads a line; a fact that this version does not know is kept as it is.
    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        let Line { seq, at, by, prev, kind, event: raw, .. } = serde_json::from_str(line)?;
        let tagged = match &raw {
            Value::Null => serde_json::json!({ "type": kind }),
            _ => serde_json::json!({ "type": kind, "event": raw }),
        };
        let event = serde_json::from_value(tagged).unwrap_or(Event::Unknown { kind, raw });
        Ok(Self { seq, at, by, prev, event })
    }
}

fn split(event: &Event) -> (String, Value) {
    let mut value = serde_json::to_value(event).unwrap_or_default();
    let kind = value["type"].as_str().unwrap_or("unknown").to_owned();
    (kind, value["event"].take())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Autonomy;

    #[test]
    fn a_line_survives_both_ways() {
        let events = [
            Event::TurnEnded,
            Event::AutonomySet { autonomy: Autonomy::Auto },
            Event::Unknown { kind: "danced".into(), raw: serde_json::json!({"with": [1, 2]}) },
        ];
        for event in events {
            let entry = Entry {
                seq: 3,
                at: Time::from_millis(5),
                by: Author::User,
                prev: Hash::of(b"x"),
                event,
            };
            assert_eq!(Entry::parse(&entry.to_line()).unwrap(), entry);
        }
    }
}
