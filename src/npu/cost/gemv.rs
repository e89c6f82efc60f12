//! Time of a GEMV: cycles a weight and a row, shared by the cores.

use crate::npu::array::Array;

pub(super) fn work_us(k: usize, n: usize, tiles: f64, array: &Array) -> f64 {
    let c = &array.coefficients;
    let weights = n as f64 * k as f64 / tiles * c.gemv_weight;
    (weights + n as f64 / tiles * c.gemv_row) / c.cycles_per_us
}
