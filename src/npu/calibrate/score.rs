//! How well predictions meet measurements.

use serde::Serialize;

use super::folds::shape;
use crate::npu::class::class_of;
use crate::npu::cost::Row;

/// Errors in percent of the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    pub rows: usize,
    pub mean: f64,
    pub median: f64,
    pub p90: f64,
    pub max: f64,
}

impl Score {
    /// `log_errors` are `ln(measured / predicted)`.
    pub(super) fn of(log_errors: impl Iterator<Item = f64>) -> Self {
        let mut errors: Vec<f64> =
            log_errors.map(|error| 100.0 * ((-error).exp() - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        let Some(max) = errors.last().copied() else { return Self::default() };
        Self {
            rows: errors.len(),
            mean: errors.iter().sum::<f64>() / errors.len() as f64,
            median: quantile(&errors, 0.5),
            p90: quantile(&errors, 0.9),
            max,
        }
    }
}

/// Of sorted values, between neighbours in proportion; 0 of none.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let at = share.clamp(0.0, 1.0) * last as f64;
    let (below, rest) = (at.floor() as usize, at.fract());
    sorted[below] + rest * (sorted[(below + 1).min(last)] - sorted[below])
}

/// Measured times that differ by more than this are told apart.
const APART: f64 = 0.03;

/// Share in percent of the pairs of tilings of one shape and method that are predicted in the measured order,
/// and how many pairs there are.
pub(super) fn order(rows: &[Row], measured: &[f64], predicted: &[f64]) -> (f64, usize) {
    let (mut right, mut all) = (0_usize, 0_usize);
    for i in 0..rows.len() {
        for j in i + 1..rows.len() {
            let (a, b) = (&rows[i], &rows[j]);
            let same = a.inside == b.inside
                && shape(a) == shape(b)
                && class_of(&a.launch.kernel) == class_of(&b.launch.kernel);
            let other = a.launch.tile != b.launch.tile || a.launch.herd != b.launch.herd;
            let apart = (measured[i] / measured[j]).ln().abs() > APART;
            if same && other && apart {
                all += 1;
                right += usize::from((measured[i] < measured[j]) == (predicted[i] < predicted[j]));
            }
        }
    }
    (if all == 0 { 100.0 } else { 100.0 * right as f64 / all as f64 }, all)
}
