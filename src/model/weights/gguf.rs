//! GGUF, versions 2 and 3: metadata and tensors, after the GGML project's `gguf.md`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::model::weights::cursor::Cursor;
use crate::model::weights::names::{Named, gguf as named};
use crate::model::weights::{Bytes, Entry, Held, Origin};
use crate::model::{Config, Family, ModelError, Role};
use crate::tensor::{Dtype, blocks};

pub(in crate::model) const MAGIC: &[u8; 4] = b"GGUF";

#[derive(Clone, Debug, PartialEq)]
pub(in crate::model) enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    Numbers(Vec<f64>),
    /// Lists of lists: read over.
    Nested,
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

#[derive(Debug)]
struct Stored {
    name: String,
    dtype: Dtype,
    /// `[out, in]`: the file has them the other way round.
    shape: Vec<usize>,
    range: Range<usize>,
}

#[derive(Debug)]
pub(in crate::model) struct Gguf {
    file: Arc<Bytes>,
    metadata: BTreeMap<String, Value>,
    tensors: Vec<Stored>,
}

impl Gguf {
    pub(in crate::model) fn parse(file: Arc<Bytes>) -> Result<Self, ModelError> {
        let place = file.place();
        let mut cursor = Cursor::new(&file, &place);
        let (tensors, entries) = start(&mut cursor, &place)?;
        let mut metadata = BTreeMap::new();
        for _ in 0..entries {
            let key = cursor.text("a key of the metadata")?;
            let value = cursor.value(&key)?;
            metadata.insert(key, value);
        }
        let alignment = alignment(&metadata, &place)?;
        let mut infos = Vec::with_capacity(tensors);
        for _ in 0..tensors {
            infos.push(Info::parse(&mut cursor, &place)?);
        }
        let data = cursor.at().next_multiple_of(alignment);
        let mut stored = Vec::with_capacity(infos.len());
        for info in infos {
            stored.push(info.placed(data, alignment, file.len(), &place)?);
        }
        apart(&stored, &place)?;
        Ok(Self { file, metadata, tensors: stored })
    }

    pub(in crate::model) fn get(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    pub(in crate::model) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_text)
    }

    pub(in crate::model) fn unsigned(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(Value::as_unsigned)
    }

    pub(in crate::model) fn flag(&self, key: &str) -> Option<bool> {
        if let Some(Value::Bool(flag)) = self.get(key) { Some(*flag) } else { None }
    }

    pub(in crate::model) fn texts(&self, key: &str) -> Option<&[String]> {
        if let Some(Value::Texts(texts)) = self.get(key) { Some(texts) } else { None }
    }

    pub(in crate::model) fn numbers(&self, key: &str) -> Option<&[f64]> {
        if let Some(Value::Numbers(numbers)) = self.get(key) { Some(numbers) } else { None }
    }

    pub(in crate::model) fn has_tensor(&self, name: &str) -> bool {
        self.tensors.iter().any(|tensor| tensor.name == name)
    }

    /// The numbers of a small tensor that is part of the config.
    pub(in crate::model) fn values(&self, name: &str) -> Option<Vec<f32>> {
        let tensor = self.tensors.iter().find(|tensor| tensor.name == name)?;
        let mut values = vec![0.0; tensor.shape.iter().product()];
        blocks::dequantise(tensor.dtype, &self.file[tensor.range.clone()], &mut values);
        Some(values)
    }

    /// The weights by role. q and k of Llama come with their rows interleaved for another rotary.
    pub(in crate::model) fn entries(&self, config: &Config) -> Vec<Entry> {
        let interleaved = matches!(config.family, Family::Llama | Family::Mistral);
        let entry = |tensor: &Stored| {
            let (role, layer) = match named(&tensor.name) {
                Named::Derived => return None,
                Named::Is((role, layer)) => (Some(role), layer),
                Named::Unknown => (None, None),
            };
            let heads = match role {
                Some(Role::Q) if interleaved => Some(config.heads),
                Some(Role::K) if interleaved => Some(config.kv_heads),
                _ => None,
            };
            let held = Held {
                name: tensor.name.clone(),
                role,
                layer,
                dtype: tensor.dtype,
                shape: tensor.shape.clone(),
                used: false,
                bytes: tensor.range.len(),
            };
            let (file, range) = (Arc::clone(&self.file), tensor.range.clone());
            Some(Entry { held, origin: Origin::Stored { file, range, heads } })
        };
        self.tensors.iter().filter_map(entry).collect()
    }
}

/// Magic, version, and how many tensors and entries follow.
fn start(cursor: &mut Cursor<'_>, place: &str) -> Result<(usize, usize), ModelError> {
    if cursor.u32("the magic number")?.to_le_bytes() != *MAGIC {
        return Err(cursor.broken("it does not begin with `GGUF`"));
    }
    let version = cursor.u32("the version")?;
    if !matches!(version, 2 | 3) {
        let what = match version.swap_bytes() {
            2 | 3 => "a big-endian GGUF file".to_owned(),
            _ => format!("GGUF version {version}"),
        };
        let hint = "versions 2 and 3, little-endian, are read: convert the checkpoint again";
        return Err(ModelError::Unsupported { place: place.into(), what, hint: hint.into() });
    }
    // The least that a tensor and an entry take: lengths, types and one byte.
    Ok((cursor.count(24, "the number of tensors")?, cursor.count(13, "the number of entries")?))
}

fn alignment(metadata: &BTreeMap<String, Value>, place: &str) -> Result<usize, ModelError> {
    let Some(value) = metadata.get("general.alignment") else {
        return Ok(32);
    };
    let alignment = value.as_unsigned().and_then(|bytes| usize::try_from(bytes).ok());
    alignment.filter(|bytes| bytes.is_power_of_two() && (8..=1 << 20).contains(bytes)).ok_or_else(
        || ModelError::broken(place, "`general.alignment` is not a power of two from 8"),
    )
}

/// A tensor as the header describes it.
struct Info {
    name: String,
    kind: u32,
    shape: Vec<usize>,
    offset: u64,
}

impl Info {
    fn parse(cursor: &mut Cursor<'_>, place: &str) -> Result<Self, ModelError> {
        let name = cursor.text("a tensor's name")?;
        let dimensions = cursor.u32(&name)?;
        if !(1..=4).contains(&dimensions) {
            return Err(cursor.broken(format!("`{name}` has {dimensions} dimensions")));
        }
        let mut shape = Vec::with_capacity(4);
        for _ in 0..dimensions {
            let size = cursor.u64(&name)?;
            let size = usize::try_from(size).ok().filter(|size| *size > 0);
            shape.push(size.ok_or_else(|| {
                ModelError::broken(place, format!("`{name}` has a dimension that is no size"))
            })?);
        }
        shape.reverse();
        Ok(Self { kind: cursor.u32(&name)?, offset: cursor.u64(&name)?, name, shape })
    }

    fn placed(
        self,
        data: usize,
        alignment: usize,
        length: usize,
        place: &str,
    ) -> Result<Stored, ModelError> {
        let Self { name, kind, shape, offset } = self;
        let dtype = dtype(kind).ok_or_else(|| ModelError::Unsupported {
            place: place.to_owned(),
            what: format!("quantisation {} of `{name}`", kind_name(kind)),
            hint: format!("take a file in one of {}", Dtype::ALL.map(Dtype::name).join(", ")),
        })?;
        let broken = |message: String| ModelError::broken(place, message);
        let width = shape.last().copied().unwrap_or(0);
        if !width.is_multiple_of(dtype.block()) {
            let block = dtype.block();
            return Err(broken(format!("rows of `{name}` ({width}) are not blocks of {block}")));
        }
        let values = shape.iter().try_fold(1_usize, |a, b| a.checked_mul(*b));
        let bytes = values.and_then(|values| dtype.bytes(values));
        let start = usize::try_from(offset).ok().and_then(|offset| data.checked_add(offset));
        let (Some(bytes), Some(start)) = (bytes, start) else {
            return Err(broken(format!(
                "`{name}` has a shape {shape:?} or an offset {offset} beyond any file"
            )));
        };
        if !start.is_multiple_of(alignment) {
            return Err(broken(format!(
                "`{name}` lies at {offset}, off the alignment {alignment}"
            )));
        }
        match start.checked_add(bytes) {
            Some(end) if end <= length => Ok(Stored { name, dtype, shape, range: start..end }),
            _ => Err(broken(format!(
                "`{name}` needs {bytes} bytes from {start} and the file ends at {length}"
            ))),
        }
    }
}

fn apart(tensors: &[Stored], place: &str) -> Result<(), ModelError> {
    let mut order: Vec<&Stored> = tensors.iter().collect();
    order.sort_by_key(|tensor| tensor.range.start);
    for pair in order.windows(2) {
        if pair[1].range.start < pair[0].range.end {
            let message = format!("`{}` and `{}` overlap", pair[0].name, pair[1].name);
            return Err(ModelError::broken(place, message));
        }
    }
    Ok(())
}

fn dtype(kind: u32) -> Option<Dtype> {
    Some(match kind {
        0 => Dtype::F32,
        1 => Dtype::F16,
        2 => Dtype::Q4_0,
        3 => Dtype::Q4_1,
        6 => Dtype::Q5_0,
        7 => Dtype::Q5_1,
        8 => Dtype::Q8_0,
        12 => Dtype::Q4_K,
        13 => Dtype::Q5_K,
        14 => Dtype::Q6_K,
        30 => Dtype::BF16,
        _ => return None,
    })
}

fn kind_name(kind: u32) -> String {
    let known = [
        (9, "Q8_1"),
        (10, "Q2_K"),
        (11, "Q3_K"),
        (15, "Q8_K"),
        (16, "IQ2_XXS"),
        (17, "IQ2_XS"),
        (18, "IQ3_XXS"),
        (19, "IQ1_S"),
        (20, "IQ4_NL"),
        (21, "IQ3_S"),
        (22, "IQ2_S"),
        (23, "IQ4_XS"),
        (28, "F64"),
        (29, "IQ1_M"),
        (34, "TQ1_0"),
        (35, "TQ2_0"),
        (39, "MXFP4"),
    ];
    let name = known.iter().find(|(number, _)| *number == kind);
    name.map_or_else(|| format!("number {kind}"), |(_, name)| format!("`{name}`"))
}
