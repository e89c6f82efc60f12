//! The one place that prints: clean text to stdout, complaints to stderr.

use std::io::{self, Write};
use std::process;

use serde::Serialize;

use super::exit::USAGE;
use crate::base::clean;

/// What a shell says of a program whose reader went away.
const READER_GONE: i32 = 141;

/// One line, or several.
pub(super) fn say(text: &str) {
    put(format!("{}\n", clean(text)).as_bytes());
}

/// One line of JSON, as it is: strings in it are escaped already.
pub(super) fn raw(line: &str) {
    put(format!("{line}\n").as_bytes());
}

/// A file's own bytes.
pub(super) fn bytes(bytes: &[u8]) {
    put(bytes);
}

/// A value as one line of JSON.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    raw(&serde_json::to_string(value)?);
    Ok(())
}

pub(super) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", clean(text)); // Nowhere is left to say it.
}

fn put(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) else { return };
    if error.kind() == io::ErrorKind::BrokenPipe {
        process::exit(READER_GONE); // As if killed: whatever was at work can be resumed.
    }
    complain(&format!("error: cannot write to stdout: {error}"));
    process::exit(i32::from(USAGE));
}
