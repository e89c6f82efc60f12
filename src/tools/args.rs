//! The arguments of a call: described as JSON Schema, read with an error that says what is wrong.

use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::tool::BadCall;
use crate::session::ToolCall;
use crate::workspace::Path;

/// Reads what a tool needs. No argument at all is an empty object.
pub(super) fn read<T: DeserializeOwned>(call: &ToolCall) -> Result<T, BadCall> {
    let args = if call.args.is_null() { json!({}) } else { call.args.clone() };
    serde_json::from_value(args).map_err(|error| BadCall(format!("`{}`: {error}", call.tool)))
}

/// A file, a folder or a pattern. People and minds write a folder with `/` at its end, or `.` for
/// the whole workspace.
pub(super) fn place<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Path>, D::Error> {
    let text = Option::<String>::deserialize(from)?.unwrap_or_default();
    match text.trim_end_matches('/') {
        "" | "." => Ok(None),
        plain => Path::new(plain).map(Some).map_err(de::Error::custom),
    }
}

/// Rows of name, kind and meaning. A name with `?` may be left out; a kind is a JSON type, `x[]`
/// a list of them, `a|b` one of these words.
pub(super) fn schema(rows: &[(&str, &str, &str)]) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, kind, doc) in rows {
        let plain = name.trim_end_matches('?');
        if plain == *name {
            required.push(plain);
        }
        let mut property = kind_of(kind);
        if !doc.is_empty() {
            property["description"] = json!(doc);
        }
        properties.insert(plain.to_owned(), property);
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn kind_of(kind: &str) -> Value {
    if let Some(item) = kind.strip_suffix("[]") {
        return json!({ "type": "array", "items": { "type": item } });
    }
    if kind.contains('|') {
        let words: Vec<&str> = kind.split('|').collect();
        return json!({ "type": "string", "enum": words });
    }
    json!({ "type": kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Args {
        path: Path,
        #[serde(default)]
        lines: Option<usize>,
    }

    #[test]
    fn a_call_that_makes_no_sense_says_why() {
        let call = |args: Value| ToolCall { id: "c".into(), tool: "read".into(), args };
        let told = |args: Value| read::<Args>(&call(args)).unwrap_err().0;
        assert!(read::<Args>(&call(json!({ "path": "plan.md" }))).is_ok());
        assert!(told(json!({ "path": "../x" })).contains("not a path inside the workspace"));
        assert!(told(json!({ "path": "x", "lin": 1 })).contains("unknown field `lin`"));
        assert!(told(Value::Null).contains("missing field `path`"));
    }

    #[test]
    fn a_schema_names_what_must_be_there() {
        let schema =
            schema(&[("path", "string", "where"), ("mode?", "a|b", ""), ("w?", "string[]", "")]);
        assert_eq!(schema["required"], json!(["path"]));
        assert_eq!(schema["properties"]["mode"], json!({ "type": "string", "enum": ["a", "b"] }));
        assert_eq!(schema["properties"]["w"]["items"]["type"], "string");
    }
}
