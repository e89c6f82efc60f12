//! What every layer put out: expected, got, and as published rounding alone would have it.

use std::sync::Arc;

use rayon::prelude::*;

use crate::pipeline::fault::{Fault, edit};
use crate::tensor::compare::{self, Worst};
use crate::tensor::{Comparison, Tensor};

/// A position is a sink where its hidden state outgrows the median this many times.
const SINK: f64 = 20.0;

/// One value on three sides, rows by position.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Sides {
    pub expected: Arc<Tensor>,
    pub got: Arc<Tensor>,
}

#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Layer {
    pub index: usize,
    pub hidden: Sides,
    pub emulated: Arc<Tensor>,
    pub keys: Sides,
    pub values: Sides,
}

/// The layers of one prompt; real positions only, padding is gone.
#[derive(Clone, Debug, Default)]
pub(in crate::pipeline) struct Activations {
    pub layers: Vec<Layer>,
    /// The hidden state before the first layer, as the target had it.
    pub before: Arc<Tensor>,
}

/// A layer in numbers.
#[derive(Clone, Debug, Default)]
pub(in crate::pipeline) struct Score {
    pub index: usize,
    /// Over everything at once: what sinks hide.
    pub cosine: f64,
    pub median: f64,
    pub fifth: f64,
    pub least: f64,
    /// Median of `‖got‖ / ‖expected‖` by position.
    pub norm_ratio: f64,
    /// Median of `‖got − expected‖ / ‖emulated − expected‖` by position.
    pub ratio: f64,
    pub sinks: Vec<usize>,
    /// The largest relative error of a sink; 0 without one.
    pub sink_error: f64,
    pub keys: f64,
    pub values: f64,
    pub non_finite: usize,
    /// The positions with the smallest cosines.
    pub worst: Vec<(usize, f64)>,
}

impl Activations {
    pub(in crate::pipeline) fn positions(&self) -> usize {
        self.layers.first().map_or(0, |layer| layer.hidden.expected.rows())
    }

    pub(in crate::pipeline) fn scores(&self) -> Vec<Score> {
        self.layers.par_iter().map(Layer::score).collect()
    }

    /// Only the first layer.
    pub(in crate::pipeline) fn block(&self) -> Self {
        Self { layers: self.layers.iter().take(1).cloned().collect(), before: self.before.clone() }
    }

    /// The layer where a fault is hardest to see: the one that its sinks dominate most, or else
    /// the one in the middle.
    pub(in crate::pipeline) fn hardest(&self) -> usize {
        let weight = |layer: &Layer| {
            let sinks = sinks(&layer.hidden.expected);
            if sinks.is_empty() { 0 } else { 1 + layer.index }
        };
        let heaviest = self.layers.iter().enumerate().max_by_key(|(_, layer)| weight(layer));
        match heaviest {
            Some((at, layer)) if weight(layer) > 0 => at,
            _ => self.layers.len() / 2,
        }
    }

    /// These layers with a fault in one of them, made by editing what was recorded.
    pub(in crate::pipeline) fn faulted(&self, fault: Fault, at: usize) -> Option<Self> {
        let mut faulted = self.clone();
        if fault == Fault::Empty {
            faulted.layers.clear();
            return Some(faulted);
        }
        let before = match at {
            0 => Arc::clone(&self.before),
            _ => Arc::clone(&self.layers[at - 1].hidden.got),
        };
        let layer = faulted.layers.get_mut(at)?;
        match fault {
            Fault::Stale => layer.hidden.got = before,
            Fault::SinkOnly => {
                let mut keep = sinks(&layer.hidden.expected);
                if keep.is_empty() {
                    keep.push(largest(&layer.hidden.expected));
                }
                let got = Arc::make_mut(&mut layer.hidden.got);
                for row in (0..got.rows()).filter(|row| !keep.contains(row)) {
                    got.row_mut(row).fill(0.0);
                }
            }
            Fault::ShiftedValues => {
                let got = Arc::make_mut(&mut layer.values.got);
                let width = got.width();
                got.data.rotate_right(width);
            }
            fault => {
                let got = Arc::make_mut(&mut layer.hidden.got);
                let width = got.width();
                if !edit(fault, &mut got.data, width, at as u64) {
                    return None;
                }
            }
        }
        Some(faulted)
    }

    /// The worst elements of the layer that fits least, for people to look at.
    pub(in crate::pipeline) fn worst_elements(&self, scores: &[Score]) -> Vec<Worst> {
        let worst =
            scores.iter().enumerate().min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median));
        let Some(layer) = worst.and_then(|(at, _)| self.layers.get(at)) else { return Vec::new() };
        Comparison::of(&layer.hidden.expected.data, &layer.hidden.got.data).worst
    }

    /// These layers where one of them had put out something else.
    pub(in crate::pipeline) fn replaced(&self, at: usize, got: Tensor) -> Self {
        let mut replaced = self.clone();
        replaced.layers[at].hidden.got = Arc::new(got);
        replaced
    }
}

impl Layer {
    fn score(&self) -> Score {
        let (expected, got) = (&self.hidden.expected, &self.hidden.got);
        let width = expected.width();
        let rows = compare::rows(&expected.data, &got.data, width);
        let device = compare::rows(&expected.data, &self.emulated.data, width);
        let sinks = sinks(expected);
        let whole = Comparison::with_worst(&expected.data, &got.data, 0);
        let real = || rows.iter().enumerate().filter(|(at, _)| !sinks.contains(at));
        let mut cosines: Vec<(usize, f64)> = real().map(|(at, row)| (at, row.cosine)).collect();
        cosines.sort_by(|a, b| a.1.total_cmp(&b.1));
        let sorted: Vec<f64> = cosines.iter().map(|(_, cosine)| *cosine).collect();
        let ratio = real().map(|(at, row)| ratio(row.error, device[at].error)).collect();
        let sizes = real().map(|(_, row)| ratio_of(row.got, row.expected)).collect();
        let cosine = |sides: &Sides| {
            let Comparison { cosine, non_finite, .. } =
                Comparison::with_worst(&sides.expected.data, &sides.got.data, 0);
            if non_finite > 0 { f64::NAN } else { cosine }
        };
        Score {
            index: self.index,
            cosine: whole.cosine,
            median: quantile(&sorted, 0.5),
            fifth: quantile(&sorted, 0.05),
            least: sorted.first().copied().unwrap_or(f64::NAN),
            norm_ratio: median(sizes),
            ratio: median(ratio),
            sink_error: sinks.iter().map(|at| rows[*at].rel_l2).fold(0.0, f64::max),
            sinks,
            keys: cosine(&self.keys),
            values: cosine(&self.values),
            non_finite: whole.non_finite,
            worst: cosines.into_iter().take(5).collect(),
        }
    }
}

/// Two errors that are both nothing are equal.
fn ratio(error: f64, device: f64) -> f64 {
    if error == 0.0 && device == 0.0 { 1.0 } else { error / device }
}

fn ratio_of(got: f64, expected: f64) -> f64 {
    if got == expected { 1.0 } else { got / expected }
}

/// Positions whose norm exceeds the median of all by far.
pub(in crate::pipeline) fn sinks(hidden: &Tensor) -> Vec<usize> {
    let norms = norms(hidden);
    let median = median(norms.clone());
    (0..norms.len()).filter(|at| norms[*at] > SINK * median).collect()
}

fn largest(hidden: &Tensor) -> usize {
    let norms = norms(hidden);
    (0..norms.len()).max_by(|a, b| norms[*a].total_cmp(&norms[*b])).unwrap_or(0)
}

fn norms(hidden: &Tensor) -> Vec<f64> {
    let norm = |row: &[f32]| row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    hidden.data.chunks(hidden.width().max(1)).map(norm).collect()
}

pub(in crate::pipeline) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}

/// Of sorted values, the one that this share of them does not exceed.
pub(in crate::pipeline) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = (share * last as f64).round() as usize;
    sorted[at.min(last)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(index: usize, sink: bool) -> Layer {
        let mut x: Vec<f32> = (0..64).map(|i| ((i * 7 + index * 3) % 11) as f32 - 5.0).collect();
        if sink {
            x[..8].iter_mut().for_each(|x| *x *= 1000.0);
        }
        let expected = Arc::new(Tensor::new([8, 8], x.clone()));
        let near = |by: f32| {
            let moved = x.iter().enumerate().map(|(i, x)| x + by * ((i % 3) as f32 - 1.0));
            Arc::new(Tensor::new([8, 8], moved.collect()))
        };
        let sides = Sides { expected: Arc::clone(&expected), got: near(0.01) };
        Layer {
            index,
            hidden: sides.clone(),
            emulated: near(0.01),
            keys: sides.clone(),
            values: sides,
        }
    }

    #[test]
    fn a_sink_hides_nothing() {
        let layers = vec![layer(0, false), layer(1, true), layer(2, false)];
        let honest = Activations { layers, before: Arc::new(Tensor::zeros([8, 8])) };
        assert_eq!(honest.hardest(), 1);
        let score = honest.scores().remove(1);
        assert_eq!(score.sinks, [0]);
        assert!((score.ratio - 1.0).abs() < 1e-9 && score.least > 0.999);

        let broken = honest.faulted(Fault::SinkOnly, 1).unwrap().scores().remove(1);
        assert!(broken.cosine > 0.999, "the whole tensor sees nothing: {}", broken.cosine);
        assert!(broken.median < 0.1, "every position by itself does: {}", broken.median);
        let half = honest.faulted(Fault::Half, 1).unwrap().scores().remove(1);
        assert!(half.least > 0.999 && half.norm_ratio < 0.51 && half.ratio > 10.0);
    }
}
