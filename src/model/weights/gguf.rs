//! GGUF, versions 2 and 3: metadata and tensors.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub(in crate::model) enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    Numbers(Vec<f64>),
}

impl Value {
    pub(in crate::model) fn as_unsigned(&self) -> Option<u64> {
        match self {
            Self::Unsigned(x) => Some(*x),
            Self::Signed(x) => u64::try_from(*x).ok(),
            _ => None,
        }
    }

    pub(in crate::model) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Unsigned(x) => Some(*x as f64),
            Self::Signed(x) => Some(*x as f64),
            Self::Float(x) => Some(*x),
            _ => None,
        }
    }

    pub(in crate::model) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

#[derive(Debug, Default)]
pub(in crate::model) struct Gguf {
    metadata: BTreeMap<String, Value>,
}

impl Gguf {
    pub(in crate::model) fn get(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    pub(in crate::model) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_text)
    }

    pub(in crate::model) fn unsigned(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(Value::as_unsigned)
    }

    pub(in crate::model) fn texts(&self, key: &str) -> Option<&[String]> {
        match self.get(key) {
            Some(Value::Texts(texts)) => Some(texts),
            _ => None,
        }
    }
}
