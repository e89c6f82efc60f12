//! Reading a GGUF header field by field; nothing is believed before it is seen to fit.

use crate::model::ModelError;
use crate::model::weights::Value;

/// Arrays of arrays are legal and unused; deeper ones are not plausible.
const DEEPEST: usize = 4;

pub(in crate::model::weights) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    place: &'a str,
}

impl<'a> Cursor<'a> {
    pub(in crate::model::weights) fn new(bytes: &'a [u8], place: &'a str) -> Self {
        Self { bytes, at: 0, place }
    }

    pub(in crate::model::weights) fn at(&self) -> usize {
        self.at
    }

    pub(in crate::model::weights) fn broken(&self, message: impl Into<String>) -> ModelError {
        ModelError::broken(self.place, message)
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], ModelError> {
        if count > self.left() {
            return Err(self.broken(format!(
                "{what} at byte {} needs {count} bytes and the file ends after {}",
                self.at,
                self.left()
            )));
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ModelError> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N, what)?);
        Ok(bytes)
    }

    pub(in crate::model::weights) fn u32(&mut self, what: &str) -> Result<u32, ModelError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(in crate::model::weights) fn u64(&mut self, what: &str) -> Result<u64, ModelError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// A number of things, each of at least `least` bytes: more than the file can hold is refused
    /// before anything is allocated.
    pub(in crate::model::weights) fn count(
        &mut self,
        least: usize,
        what: &str,
    ) -> Result<usize, ModelError> {
        let count = self.u64(what)?;
        let fits = usize::try_from(count).ok().filter(|count| *count <= self.left() / least);
        fits.ok_or_else(|| {
            self.broken(format!("{what} is {count}, more than {} bytes can hold", self.left()))
        })
    }

    pub(in crate::model::weights) fn text(&mut self, what: &str) -> Result<String, ModelError> {
        let length = self.count(1, what)?;
        Ok(String::from_utf8_lossy(self.take(length, what)?).into_owned())
    }

    /// A value with its type before it.
    pub(in crate::model::weights) fn value(&mut self, key: &str) -> Result<Value, ModelError> {
        let kind = self.u32(key)?;
        self.typed(kind, key, 0)
    }

    fn typed(&mut self, kind: u32, key: &str, depth: usize) -> Result<Value, ModelError> {
        Ok(match kind {
            0 => Value::Unsigned(u8::from_le_bytes(self.array(key)?).into()),
            1 => Value::Signed(i8::from_le_bytes(self.array(key)?).into()),
            2 => Value::Unsigned(u16::from_le_bytes(self.array(key)?).into()),
            3 => Value::Signed(i16::from_le_bytes(self.array(key)?).into()),
            4 => Value::Unsigned(self.u32(key)?.into()),
            5 => Value::Signed(i32::from_le_bytes(self.array(key)?).into()),
            6 => Value::Float(f32::from_le_bytes(self.array(key)?).into()),
            7 => Value::Bool(self.array::<1>(key)?[0] != 0),
            8 => Value::Text(self.text(key)?),
            9 => self.list(key, depth)?,
            10 => Value::Unsigned(self.u64(key)?),
            11 => Value::Signed(i64::from_le_bytes(self.array(key)?)),
            12 => Value::Float(f64::from_le_bytes(self.array(key)?)),
            other => return Err(self.broken(format!("`{key}` has the unknown type {other}"))),
        })
    }

    fn list(&mut self, key: &str, depth: usize) -> Result<Value, ModelError> {
        if depth >= DEEPEST {
            return Err(self.broken(format!("`{key}` is nested too deeply")));
        }
        let kind = self.u32(key)?;
        let least = match kind {
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10..=12 => 8,
            9 => 12,
            _ => 1,
        };
        let count = self.count(least, key)?;
        match kind {
            8 => (0..count).map(|_| self.text(key)).collect::<Result<_, _>>().map(Value::Texts),
            9 => {
                for _ in 0..count {
                    self.typed(kind, key, depth + 1)?;
                }
                Ok(Value::Nested)
            }
            _ => {
                let mut numbers = Vec::with_capacity(count);
                for _ in 0..count {
                    let value = self.typed(kind, key, depth)?;
                    let bit = value == Value::Bool(true);
                    numbers.push(value.as_number().unwrap_or(f64::from(u8::from(bit))));
                }
                Ok(Value::Numbers(numbers))
            }
        }
    }
}
