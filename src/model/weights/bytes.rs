//! The bytes of a checkpoint file, mapped: nothing is read before it is needed.
#![expect(unsafe_code, reason = "mapping a file is outside what the compiler can check")]

use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::model::ModelError;

#[derive(Debug)]
pub(in crate::model) struct Bytes {
    pub path: PathBuf,
    held: Held,
}

#[derive(Debug)]
enum Held {
    Mapped(Mmap),
    /// Part of the program itself.
    Embedded(&'static [u8]),
}

impl Bytes {
    pub(in crate::model) fn open(path: &Path) -> Result<Self, ModelError> {
        let file = File::open(path).map_err(|error| ModelError::io(path, error))?;
        let length = file.metadata().map_err(|error| ModelError::io(path, error))?.len();
        if length == 0 {
            return Err(ModelError::broken(path.display().to_string(), "the file is empty"));
        }
        // SAFETY: the map is read-only and private to this struct. Somebody who truncates the file
        // while we read it can end us with a bus error; checkpoints are not edited in place.
        let map = unsafe { Mmap::map(&file) }.map_err(|error| ModelError::io(path, error))?;
        Ok(Self { path: path.to_owned(), held: Held::Mapped(map) })
    }

    pub(in crate::model) fn embedded(name: &str, bytes: &'static [u8]) -> Self {
        Self { path: PathBuf::from(name), held: Held::Embedded(bytes) }
    }

    /// The file's name for errors.
    pub(in crate::model) fn place(&self) -> String {
        self.path.display().to_string()
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.held {
            Held::Mapped(map) => map,
            Held::Embedded(bytes) => bytes,
        }
    }
}
