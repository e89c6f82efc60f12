//! Reads the bytes of a log, for who writes it and for who only reads.

use std::sync::Arc;

use super::entry::Entry;
use crate::base::Hash;

/// What the bytes of a log hold.
#[derive(Default)]
pub(super) struct Scan {
    pub entries: Vec<Arc<Entry>>,
    pub ends: Vec<usize>,
    /// The hash of the last line.
    pub last: Hash,
    /// The length of the whole lines; what follows is torn.
    pub whole: usize,
}

impl Scan {
    /// Reads lines until the end, a torn tail, or a line (counted from 1) that breaks the chain.
    ///
    /// A last line that is no JSON is a torn tail too: after a power cut a file may have its new
    /// length without its new bytes. A whole line in the wrong place is not: somebody wrote it.
    pub(super) fn of(bytes: &[u8]) -> (Self, Option<(u64, String)>) {
        let mut scan = Self::default();
        while let Some(length) = bytes[scan.whole..].iter().position(|byte| *byte == b'\n') {
            let line = &bytes[scan.whole..scan.whole + length];
            let end = scan.whole + length + 1;
            let seq = scan.entries.len() as u64;
            let entry = match read_line(line) {
                Ok(entry) => entry,
                Err(_) if end == bytes.len() => break,
                Err(why) => return (scan, Some((seq + 1, why))),
            };
            if entry.seq != seq {
                let why = format!("it says that it is fact {}, it should be fact {seq}", entry.seq);
                return (scan, Some((seq + 1, why)));
            }
            if entry.prev != scan.last {
                let why = "the line before it is not the one it was written after".to_owned();
                return (scan, Some((seq + 1, why)));
            }
            scan.last = Hash::of(line);
            scan.whole = end;
            scan.ends.push(end);
            scan.entries.push(Arc::new(entry));
        }
        (scan, None)
    }
}

fn read_line(line: &[u8]) -> Result<Entry, String> {
    let text = str::from_utf8(line).map_err(|error| format!("it is not UTF-8: {error}"))?;
    Entry::parse(text).map_err(|error| format!("it is not a fact: {error}"))
}
