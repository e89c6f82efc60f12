//! Copies between host and array: activations written before a dispatch and read back after it.

use crate::npu::array::Array;
use crate::npu::program::{Buffer, Launch, Program, Residency};

/// Bytes that the host writes before a dispatch: each activation that a launch reads, once.
pub(super) fn written(launches: &[Launch], program: &Program) -> usize {
    bytes(launches.iter().flat_map(|launch| &launch.inputs), program)
}

/// Bytes that the host reads back after it: each activation that a launch makes, once.
pub(super) fn read_back(launches: &[Launch], program: &Program) -> usize {
    bytes(launches.iter().flat_map(|launch| &launch.outputs), program)
}

/// Microseconds of a copy to the array and its cache flush, warm.
pub(super) fn write_us(bytes: usize, array: &Array) -> f64 {
    bytes as f64 / (array.bandwidth.host_write * 1e3)
}

/// Microseconds of a copy from the array.
pub(super) fn read_us(bytes: usize, array: &Array) -> f64 {
    bytes as f64 / (array.bandwidth.host_read * 1e3)
}

fn bytes<'a>(names: impl Iterator<Item = &'a String>, program: &Program) -> usize {
    let mut seen: Vec<&str> = Vec::new();
    let mut all = 0_usize;
    for name in names {
        if seen.contains(&name.as_str()) {
            continue;
        }
        seen.push(name);
        let activation =
            program.buffer(name).filter(|buffer| buffer.residency == Residency::Activation);
        all = all.saturating_add(activation.map_or(0, Buffer::bytes));
    }
    all
}
