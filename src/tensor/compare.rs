//! How close two tensors are: every metric from one pass, added up in f64.

use serde::{Deserialize, Serialize};

/// Added to the denominator of a relative error.
pub const EPSILON: f64 = 1e-6;
/// How many of the worst elements are kept.
pub const WORST: usize = 5;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub count: usize,
    pub max_abs: f64,
    pub mean_abs: f64,
    pub rmse: f64,
    /// Largest `|got − expected| / (|expected| + EPSILON)`.
    pub max_rel: f64,
    /// `Σ|got − expected| / Σ|expected|`.
    pub mean_rel_l1: f64,
    /// `‖got − expected‖ / ‖expected‖`.
    pub rel_l2: f64,
    pub pearson: f64,
    pub cosine: f64,
    /// `‖got‖ / ‖expected‖`: what no cosine sees.
    pub norm_ratio: f64,
    /// NaN and infinities on either side, and elements without a partner.
    pub non_finite: usize,
    /// Largest errors first.
    pub worst: Vec<Worst>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    pub index: usize,
    pub expected: f32,
    pub got: f32,
    pub error: f64,
}

/// One position of two activations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub cosine: f64,
    pub rel_l2: f64,
    /// Norms of what was expected, of what was got, and of their difference.
    pub expected: f64,
    pub got: f64,
    pub error: f64,
    pub non_finite: usize,
}

#[derive(Default)]
struct Sums {
    count: usize,
    x: f64,
    y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
    dd: f64,
    abs_x: f64,
    abs_d: f64,
    max_abs: f64,
    max_rel: f64,
    non_finite: usize,
}

impl Sums {
    fn of(expected: &[f32], got: &[f32], mut each: impl FnMut(usize, f32, f32, f64)) -> Self {
        let non_finite = expected.len().abs_diff(got.len());
        let mut s = Self { non_finite, ..Self::default() };
        for (index, (&x32, &y32)) in expected.iter().zip(got).enumerate() {
            if !(x32.is_finite() && y32.is_finite()) {
                s.non_finite += 1;
                continue;
            }
            let (x, y) = (f64::from(x32), f64::from(y32));
            let error = (y - x).abs();
            s.count += 1;
            s.x += x;
            s.y += y;
            s.xx += x * x;
            s.yy += y * y;
            s.xy += x * y;
            s.dd += error * error;
            s.abs_x += x.abs();
            s.abs_d += error;
            s.max_abs = s.max_abs.max(error);
            s.max_rel = s.max_rel.max(error / (x.abs() + EPSILON));
            each(index, x32, y32, error);
        }
        s
    }

    /// Two vectors of zeros point the same way; one alone points nowhere.
    fn cosine(&self) -> f64 {
        if self.xx == 0.0 && self.yy == 0.0 {
            return 1.0;
        }
        ratio(self.xy, (self.xx * self.yy).sqrt())
    }

    fn pearson(&self) -> f64 {
        let n = self.count.max(1) as f64;
        let covariance = self.xy - self.x * self.y / n;
        let (vx, vy) = (self.xx - self.x * self.x / n, self.yy - self.y * self.y / n);
        if vx <= 0.0 && vy <= 0.0 {
            return if self.abs_d == 0.0 { 1.0 } else { 0.0 };
        }
        ratio(covariance, (vx.max(0.0) * vy.max(0.0)).sqrt())
    }
}

/// What is compared with nothing is infinitely far from it, unless it is nothing as well.
fn relative(error: f64, size: f64) -> f64 {
    if error == 0.0 {
        0.0
    } else if size == 0.0 {
        f64::INFINITY
    } else {
        error / size
    }
}

fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

impl Comparison {
    pub fn of(expected: &[f32], got: &[f32]) -> Self {
        Self::with_worst(expected, got, WORST)
    }

    pub fn with_worst(expected: &[f32], got: &[f32], keep: usize) -> Self {
        let mut worst: Vec<Worst> = Vec::with_capacity(keep + 1);
        let s = Sums::of(expected, got, |index, expected, got, error| {
            if worst.len() < keep || worst.last().is_some_and(|least| error > least.error) {
                let at = worst.partition_point(|other| other.error >= error);
                worst.insert(at, Worst { index, expected, got, error });
                worst.truncate(keep);
            }
        });
        let n = s.count.max(1) as f64;
        Self {
            count: s.count,
            max_abs: s.max_abs,
            mean_abs: s.abs_d / n,
            rmse: (s.dd / n).sqrt(),
            max_rel: s.max_rel,
            mean_rel_l1: relative(s.abs_d, s.abs_x),
            rel_l2: relative(s.dd.sqrt(), s.xx.sqrt()),
            pearson: s.pearson(),
            cosine: s.cosine(),
            norm_ratio: if s.xx == s.yy { 1.0 } else { relative(s.yy.sqrt(), s.xx.sqrt()) },
            non_finite: s.non_finite,
            worst,
        }
    }
}

/// Each row of `width` by itself; rows without a partner are left out.
pub fn rows(expected: &[f32], got: &[f32], width: usize) -> Vec<Row> {
    let pairs = expected.chunks_exact(width).zip(got.chunks_exact(width));
    pairs.map(|(expected, got)| row(expected, got)).collect()
}

fn row(expected: &[f32], got: &[f32]) -> Row {
    let s = Sums::of(expected, got, |_, _, _, _| {});
    Row {
        cosine: s.cosine(),
        rel_l2: relative(s.dd.sqrt(), s.xx.sqrt()),
        expected: s.xx.sqrt(),
        got: s.yy.sqrt(),
        error: s.dd.sqrt(),
        non_finite: s.non_finite,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tensors_are_equal() {
        let c = Comparison::of(&[1.0, -2.0, 3.0], &[1.0, -2.0, 3.0]);
        assert_eq!((c.max_abs, c.rel_l2, c.mean_rel_l1, c.non_finite), (0.0, 0.0, 0.0, 0));
        assert!((c.cosine - 1.0).abs() < 1e-12 && (c.pearson - 1.0).abs() < 1e-12);
        assert_eq!(c.norm_ratio, 1.0);
    }

    #[test]
    fn a_scale_is_seen_by_the_norm_and_not_by_the_cosine() {
        let c = Comparison::of(&[1.0, -2.0, 3.0], &[0.5, -1.0, 1.5]);
        assert!((c.cosine - 1.0).abs() < 1e-12);
        assert!((c.norm_ratio - 0.5).abs() < 1e-12 && (c.rel_l2 - 0.5).abs() < 1e-12);
        assert_eq!(c.worst[0].index, 2);
        assert_eq!(c.worst.len(), 3);
    }

    #[test]
    fn zeros_and_nans_do_not_pass() {
        let c = Comparison::of(&[1.0, 2.0], &[0.0, 0.0]);
        assert_eq!((c.cosine, c.norm_ratio, c.rel_l2), (0.0, 0.0, 1.0));
        let c = Comparison::of(&[1.0, 2.0, 3.0], &[f32::NAN, 2.0]);
        assert_eq!((c.non_finite, c.count), (2, 1));
        let rows = rows(&[1.0, 0.0, 0.0, 1.0], &[1.0, 0.0, 1.0, 0.0], 2);
        assert_eq!((rows[0].cosine, rows[1].cosine), (1.0, 0.0));
    }
}
