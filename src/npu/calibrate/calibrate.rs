//! A calibration: rows that may be used, the fit, its errors, and how sure each class is.

use std::collections::BTreeMap;

use serde::Serialize;

use super::fit::{fit, untouched};
use super::folds::{FOLDS, folds};
use super::parameters::{PARAMETERS, expected};
use super::score::{Score, order, quantile};
use crate::npu::array::Array;
use crate::npu::class::{Class, Classes, class_of, sizes};
use crate::npu::cost::{Row, predict};

/// What came out.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The array with the fitted coefficients and their classes.
    pub array: Array,
    pub summary: Summary,
}

/// Errors of a calibration, in percent.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Of the rows that were fitted.
    pub fitted: Score,
    pub by_class: BTreeMap<&'static str, Score>,
    /// Of rows predicted by fits that had not seen their shape.
    pub five_fold: Score,
    /// Share of tilings of one shape that come in the measured order, and how many pairs.
    pub order_pct: f64,
    pub pairs: usize,
    /// Share of held-out rows within the 80 % interval of the other folds.
    pub covered_pct: f64,
    /// Coefficients that no row depends on: they stay as they were.
    pub untouched: Vec<&'static str>,
    /// Rows that were left out, and why.
    pub left_out: Vec<(String, &'static str)>,
}

/// Too little to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    pub rows: usize,
    pub parameters: usize,
}

/// Fits the coefficients to the rows, from those of `start`.
pub fn calibrate(rows: &[Row], start: &Array) -> Result<Calibration, Refused> {
    let mut left_out = Vec::new();
    let mut used: Vec<Row> = Vec::new();
    let mut measured = Vec::new();
    for row in rows {
        let predicted = predict(row, start);
        let why = match row.measured_us {
            _ if row.flaw.is_some() => "a cell is no size",
            _ if !row.exclude.is_empty() => "its `exclude` is not empty",
            None => "it has no measured time",
            Some(us) if !us.is_finite() || us <= 0.0 => "its measured time is no positive number",
            Some(_) if !predicted.is_finite() || predicted <= 0.0 => "its sizes make no kernel",
            Some(us) => {
                used.push(row.clone());
                measured.push(us);
                continue;
            }
        };
        left_out.push((row.id.clone(), why));
    }
    if used.len() < PARAMETERS.len() {
        return Err(Refused { rows: used.len(), parameters: PARAMETERS.len() });
    }

    let mut array = fit(&used, &measured, start);
    let errors = log_errors(&used, &measured, &array);
    let predicted: Vec<f64> = used.iter().map(|row| predict(row, &array)).collect();
    let fold = folds(&used);
    let held_out = held_out(&used, &measured, &fold, start);
    let (order_pct, pairs) = order(&used, &measured, &predicted);
    let of = |name| {
        let rows = used.iter().zip(&errors).filter(move |(row, _)| class(row) == name);
        Score::of(rows.map(|(_, error)| *error))
    };
    let names: Vec<&'static str> = used.iter().map(class).collect();
    let summary = Summary {
        fitted: Score::of(errors.iter().copied()),
        by_class: names.iter().map(|name| (*name, of(*name))).collect(),
        five_fold: Score::of(held_out.iter().copied()),
        order_pct,
        pairs,
        covered_pct: covered(&used, &held_out, &fold),
        untouched: untouched(&used, &array),
        left_out,
    };
    array.classes = classes(&used, &held_out);
    Ok(Calibration { array, summary })
}

fn class(row: &Row) -> &'static str {
    class_of(&row.launch.kernel)
}

/// `ln(measured / predicted)`.
fn log_errors(rows: &[Row], measured: &[f64], array: &Array) -> Vec<f64> {
    rows.iter().zip(measured).map(|(row, us)| (us / predict(row, array)).ln()).collect()
}

/// The error of each row under a fit without the fold that it is in. It starts from what one
/// expects: the built-in coefficients have seen the rows.
fn held_out(rows: &[Row], measured: &[f64], fold: &[usize], start: &Array) -> Vec<f64> {
    let mut errors = vec![0.0; rows.len()];
    for out in 0..FOLDS {
        let seen = |at: &usize| fold[*at] != out;
        let kept: Vec<usize> = (0..rows.len()).filter(seen).collect();
        let of: Vec<Row> = kept.iter().map(|at| rows[*at].clone()).collect();
        let times: Vec<f64> = kept.iter().map(|at| measured[*at]).collect();
        let array = fit(&of, &times, &expected(start));
        for at in (0..rows.len()).filter(|at| fold[*at] == out) {
            errors[at] = (measured[at] / predict(&rows[at], &array)).ln();
        }
    }
    errors
}

/// The errors between which eight of ten further rows are expected: of `n` rows, those of rank
/// `(n + 1) / 10` from either end.
fn quantiles(mut errors: Vec<f64>) -> (f64, f64) {
    errors.sort_by(f64::total_cmp);
    let last = errors.len().saturating_sub(1).max(1) as f64;
    let rank = 0.1 * (errors.len() as f64 + 1.0) - 1.0;
    let share = (rank / last).max(0.0);
    (quantile(&errors, share), quantile(&errors, 1.0 - share))
}

fn classes(rows: &[Row], errors: &[f64]) -> Classes {
    let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        found.entry(class(row)).or_default().push(at);
    }
    let class = |(name, of): (&str, Vec<usize>)| {
        let (low, high) = quantiles(of.iter().map(|at| errors[*at]).collect());
        let mut hull: BTreeMap<String, [f64; 2]> = BTreeMap::new();
        for (name, size) in of.iter().flat_map(|at| sizes(&rows[*at].launch)) {
            let [least, most] = hull.entry(name).or_insert([size, size]);
            (*least, *most) = (least.min(size), most.max(size));
        }
        let rows = of.len();
        (name.to_owned(), Class { rows, low: rounded(low), high: rounded(high), hull })
    };
    found.into_iter().map(class).collect()
}

/// To what the rows can tell apart.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Share in percent of rows within the quantiles of the other folds' rows of their class.
fn covered(rows: &[Row], errors: &[f64], fold: &[usize]) -> f64 {
    let inside = (0..rows.len()).filter(|at| {
        let others = (0..rows.len())
            .filter(|other| fold[*other] != fold[*at] && class(&rows[*other]) == class(&rows[*at]));
        let (low, high) = quantiles(others.map(|other| errors[other]).collect());
        (low..=high).contains(&errors[*at])
    });
    100.0 * inside.count() as f64 / rows.len().max(1) as f64
}
