//! The hash that names content: BLAKE3, written as 64 hex digits.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

/// The hash of some content, as text. Two equal hashes name the same bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hash(String);

impl Hash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).to_hex().to_string())
    }

    /// Whether a text has the form of a hash, and so may be used as the name of a file.
    pub fn is_name(text: &str) -> bool {
        text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough of it for a person to tell two apart.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl From<&str> for Hash {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Hash {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Takes bytes as they come. Parts are told apart: `ab`, `c` is not `a`, `bc`.
#[derive(Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one part, with its length before it.
    pub fn part(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds all that a reader has, unframed: the hash of a whole file is the hash of its bytes.
    pub fn read(&mut self, from: impl io::Read) -> io::Result<&mut Self> {
        self.0.update_reader(from)?;
        Ok(self)
    }

    pub fn finish(&self) -> Hash {
        Hash(self.0.finalize().to_hex().to_string())
    }
}
