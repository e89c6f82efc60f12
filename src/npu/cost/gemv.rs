//! Time of a GEMV: cycles a weight and a row, shared by the cores; or weights at the memory's pace.

use crate::npu::array::Array;

/// Tiles that saturate the memory.
const TILES: f64 = 8.0;

/// The same inside a dispatch, where one launch loads while the one before it ends.
pub(super) fn inside_us(k: usize, n: usize, tiles: f64, array: &Array) -> f64 {
    let bytes = 2.0 * k as f64 * n as f64;
    let stream = bytes / (array.bandwidth.gemv_read * 1e3) * (TILES / tiles).max(1.0);
    let c = &array.coefficients;
    stream + n as f64 / tiles * c.gemv_row / c.cycles_per_us
}

/// Run alone.
pub(super) fn work_us(k: usize, n: usize, tiles: f64, array: &Array) -> f64 {
    let c = &array.coefficients;
    let weights = n as f64 * k as f64 / tiles * c.gemv_weight;
    (weights + n as f64 / tiles * c.gemv_row) / c.cycles_per_us
}
