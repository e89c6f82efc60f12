//! Folds by shape: a row is predicted by a fit that saw no row of the same shape.

use std::collections::BTreeMap;

use crate::base::Hash;
use crate::npu::cost::Row;
use crate::npu::program::Kernel;

pub(super) const FOLDS: usize = 5;

/// What rows of one fold share: the kernel and its sizes, tiles and method apart.
pub(super) fn shape(row: &Row) -> String {
    match row.launch.kernel {
        Kernel::Gemm { m, k, n, .. } => format!("gemm {m} {k} {n}"),
        ref other => format!("{other:?}"),
    }
}

/// The fold of each row. Shapes are dealt out in the order of their hashes, so that folds are of
/// equal size and the same for the same rows, whatever their order.
pub(super) fn folds(rows: &[Row]) -> Vec<usize> {
    let shapes: Vec<String> = rows.iter().map(shape).collect();
    let mut order: Vec<(Hash, &String)> =
        shapes.iter().map(|shape| (Hash::of(shape.as_bytes()), shape)).collect();
    order.sort();
    order.dedup();
    let fold: BTreeMap<&String, usize> =
        order.iter().enumerate().map(|(at, (_, shape))| (*shape, at % FOLDS)).collect();
    shapes.iter().map(|shape| fold[shape]).collect()
}
