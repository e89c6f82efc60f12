//! Robust least squares in the logarithm of time, by Levenberg and Marquardt's method.

use super::parameters::PARAMETERS;
use crate::npu::array::Array;
use crate::npu::cost::{Row, predict};

/// Errors in the logarithm beyond this count less and less.
const SCALE: f64 = 0.1;
const ITERATIONS: usize = 200;
/// Step of the numeric derivative, in the logarithm of a parameter.
const STEP: f64 = 1e-6;
const CONVERGED: f64 = 1e-10;

/// How much it costs when a coefficient leaves what is expected of it: a factor of two counts as a
/// row that is off by a tenth of that. Few rows cannot send a coefficient far.
const TRUST: f64 = 0.1;

/// The array with the coefficients that fit best. What no row depends on stays as it was.
pub(super) fn fit(rows: &[Row], measured: &[f64], start: &Array) -> Array {
    let mut point: Vec<f64> = PARAMETERS.iter().map(|p| p.of(start).max(1e-12).ln()).collect();
    let mut array = at(start, &point);
    let mut errors = errors(rows, measured, &array);
    let held: Vec<bool> = {
        let untouched = untouched(rows, start);
        PARAMETERS.iter().map(|p| untouched.contains(&p.name)).collect()
    };
    let mut cost = total(&errors) + doubt(&point, &held);
    let mut damping = 1e-3;
    for _ in 0..ITERATIONS {
        let (mut matrix, mut gradient) = normal(rows, measured, start, &point, &errors);
        for at in 0..point.len() {
            if held[at] {
                gradient[at] = 0.0;
                matrix[at] = vec![0.0; point.len()];
                for row in &mut matrix {
                    row[at] = 0.0;
                }
                continue;
            }
            matrix[at][at] += TRUST * TRUST;
            gradient[at] += TRUST * TRUST * (point[at] - PARAMETERS[at].expected.ln());
        }
        let mut is_better = false;
        while damping < 1e12 {
            let step = solve(&matrix, &gradient, damping);
            let next: Vec<f64> = point.iter().zip(&step).map(|(p, d)| p - d).collect();
            let trial = at(start, &next);
            let tried = self::errors(rows, measured, &trial);
            let new = total(&tried) + doubt(&next, &held);
            if new.is_finite() && new < cost {
                is_better = (cost - new) > CONVERGED * cost;
                (point, array, errors, cost) = (next, trial, tried, new);
                damping = (damping / 10.0).max(1e-12);
                break;
            }
            damping *= 10.0;
        }
        if !is_better {
            break;
        }
    }
    array
}

/// Names of the parameters that no row depends on.
pub(super) fn untouched(rows: &[Row], array: &Array) -> Vec<&'static str> {
    let plain: Vec<f64> = rows.iter().map(|row| predict(row, array)).collect();
    let moves = |parameter: &&super::parameters::Parameter| {
        let mut other = array.clone();
        parameter.set(&mut other, parameter.of(array) * 1.5);
        rows.iter().zip(&plain).any(|(row, was)| predict(row, &other) != *was)
    };
    PARAMETERS.iter().filter(|p| !moves(p)).map(|p| p.name).collect()
}

fn at(start: &Array, point: &[f64]) -> Array {
    let mut array = start.clone();
    for (parameter, value) in PARAMETERS.iter().zip(point) {
        parameter.set(&mut array, value.exp());
    }
    array
}

/// `ln(predicted / measured)` of each row.
fn errors(rows: &[Row], measured: &[f64], array: &Array) -> Vec<f64> {
    rows.iter().zip(measured).map(|(row, us)| (predict(row, array) / us).ln()).collect()
}

/// The soft L1 norm: square for small errors, linear for large ones.
fn total(errors: &[f64]) -> f64 {
    errors.iter().map(|error| ((1.0 + (error / SCALE).powi(2)).sqrt() - 1.0) * SCALE * SCALE).sum()
}

/// What it costs to be where nobody expects it.
fn doubt(point: &[f64], held: &[bool]) -> f64 {
    let off = |at: &usize| (point[*at] - PARAMETERS[*at].expected.ln()).powi(2);
    (0..point.len()).filter(|at| !held[*at]).map(|at| off(&at)).sum::<f64>() * TRUST * TRUST / 2.0
}

/// The normal equations at a point, each row weighted by how far it is off.
fn normal(
    rows: &[Row],
    measured: &[f64],
    start: &Array,
    point: &[f64],
    errors: &[f64],
) -> (Vec<Vec<f64>>, Vec<f64>) {
    let n = point.len();
    let columns: Vec<Vec<f64>> = (0..n)
        .map(|column| {
            let mut near = point.to_vec();
            near[column] += STEP;
            let moved = self::errors(rows, measured, &at(start, &near));
            moved.iter().zip(errors).map(|(a, b)| (a - b) / STEP).collect()
        })
        .collect();
    let weights: Vec<f64> =
        errors.iter().map(|error| 1.0 / (1.0 + (error / SCALE).powi(2)).sqrt()).collect();
    let dot = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).zip(&weights).map(|((a, b), w)| a * b * w).sum()
    };
    let matrix = (0..n).map(|i| (0..n).map(|j| dot(&columns[i], &columns[j])).collect()).collect();
    let gradient = columns.iter().map(|column| dot(column, errors)).collect();
    (matrix, gradient)
}

/// Solves `(M + damping · diag M) x = g` by Cholesky's decomposition; what has no weight stays 0.
fn solve(matrix: &[Vec<f64>], gradient: &[f64], damping: f64) -> Vec<f64> {
    let n = gradient.len();
    let mut lower = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let mut sum = matrix[i][j];
            if i == j {
                sum += damping * matrix[i][i] + 1e-12;
            }
            sum -= (0..j).map(|k| lower[i][k] * lower[j][k]).sum::<f64>();
            lower[i][j] = if i == j { sum.max(1e-300).sqrt() } else { sum / lower[j][j] };
        }
    }
    let mut x = gradient.to_vec();
    for i in 0..n {
        let known: f64 = (0..i).map(|k| lower[i][k] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i][i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| lower[k][i] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i][i];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_system_is_solved() {
        let matrix = vec![vec![4.0, 1.0, 0.0], vec![1.0, 3.0, 0.0], vec![0.0, 0.0, 0.0]];
        let x = solve(&matrix, &[1.0, 2.0, 0.0], 0.0);
        assert!((x[0] - 1.0 / 11.0).abs() < 1e-9 && (x[1] - 7.0 / 11.0).abs() < 1e-9);
        assert_eq!(x[2], 0.0);
    }
}
