//! What a buffer object holds: plain values, or a weight in 16 bits with its bfp16 form at hand.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::kernel::pack;
use super::numerics::{SHARE, bfp16_rows_parallel, from_bits, garbage, to_bits};
use crate::tensor::round::{bf16_rne, bf16_rne_all};

/// Cheap to clone: writing the same content again moves no memory here, whatever is counted.
#[derive(Clone, Default)]
pub(super) enum Content {
    /// Values in the order of memory, already on the grid of the buffer's dtype.
    Values(Arc<Vec<f32>>),
    Weight(Arc<Weight>),
    /// Nobody has written it.
    #[default]
    Nothing,
}

/// A bf16 weight as rows of outputs, `[n, k]`, however the buffer's memory orders it.
pub(super) struct Weight {
    bits: Arc<Vec<u16>>,
    k: usize,
    order: Order,
    /// On the bfp16 grid, groups along K; absent when there is no room to keep it.
    grid: OnceLock<Vec<f32>>,
    keep: Keep,
}

/// How the weight lies in the buffer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// `[n, k]`: for a GEMV, and for rows such as norms.
    Rows,
    /// `[k, n]`: for a GEMM.
    Columns,
}

/// Whether the bfp16 form stays in memory once it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Grid,
    BitsOnly,
}

impl Weight {
    pub(super) fn new(bits: Arc<Vec<u16>>, k: usize, order: Order, keep: Keep) -> Self {
        Self { bits, k, order, grid: OnceLock::new(), keep }
    }

    fn rows(&self) -> Vec<f32> {
        let mut rows = vec![0.0; self.bits.len()];
        rows.par_chunks_mut(SHARE).zip(self.bits.par_chunks(SHARE)).for_each(|(rows, bits)| {
            rows.iter_mut().zip(bits).for_each(|(x, bits)| *x = from_bits(*bits));
        });
        rows
    }

    fn on_grid(&self) -> Vec<f32> {
        let mut rows = self.rows();
        bfp16_rows_parallel(&mut rows, self.k);
        rows
    }
}

/// Values as memory keeps them in bf16, rounded to nearest even.
pub(super) fn bf16_bits(values: &[f32]) -> Vec<u16> {
    let mut bits = vec![0; values.len()];
    bits.par_chunks_mut(SHARE).zip(values.par_chunks(SHARE)).for_each(|(bits, values)| {
        bits.iter_mut().zip(values).for_each(|(bits, x)| *bits = to_bits(bf16_rne(*x)));
    });
    bits
}

/// Borrowed when it is kept, owned when it was made for this use.
pub(super) enum Lent<'a, T> {
    Kept(&'a [T]),
    Made(Vec<T>),
}

impl<T> std::ops::Deref for Lent<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Kept(slice) => slice,
            Self::Made(vec) => vec,
        }
    }
}

impl Content {
    pub(super) fn of(values: Vec<f32>) -> Self {
        Self::Values(Arc::new(values))
    }

    /// To the nearest bf16, as the host writes a buffer.
    pub(super) fn rounded(mut values: Vec<f32>) -> Self {
        bf16_rne_all(&mut values);
        Self::of(values)
    }

    /// The first `count` values as memory has them; what is not there is garbage.
    pub(super) fn values(&self, count: usize) -> Lent<'_, f32> {
        let mut made = match self {
            Self::Values(values) if values.len() >= count => return Lent::Kept(&values[..count]),
            Self::Values(values) => values.to_vec(),
            Self::Weight(weight) => match weight.order {
                Order::Rows => weight.rows(),
                Order::Columns => transpose(&weight.rows(), weight.k),
            },
            Self::Nothing => Vec::new(),
        };
        made.truncate(count);
        made.extend((made.len()..count).map(garbage));
        Lent::Made(made)
    }

    /// As the second operand of a GEMM: memory read as `[k, n]`, given as `[n, k]` on the grid.
    pub(super) fn columns(&self, k: usize, n: usize) -> Lent<'_, f32> {
        match self {
            Self::Weight(weight)
                if weight.order == Order::Columns
                    && weight.k == k
                    && weight.bits.len() == k * n =>
            {
                match weight.keep {
                    Keep::Grid => Lent::Kept(weight.grid.get_or_init(|| weight.on_grid())),
                    Keep::BitsOnly => Lent::Made(weight.on_grid()),
                }
            }
            _ => Lent::Made(pack(&self.values(k * n), k, n)),
        }
    }

    /// As the first operand of a GEMV: `count` 16-bit values in the order of memory.
    pub(super) fn bits(&self, count: usize) -> Lent<'_, u16> {
        match self {
            Self::Weight(weight) if weight.order == Order::Rows && weight.bits.len() >= count => {
                Lent::Kept(&weight.bits[..count])
            }
            _ => Lent::Made(self.values(count).iter().map(|x| to_bits(*x)).collect()),
        }
    }
}

fn transpose(rows: &[f32], k: usize) -> Vec<f32> {
    let n = rows.len() / k;
    let mut out = vec![0.0; rows.len()];
    out.par_chunks_mut(n).enumerate().for_each(|(p, out)| {
        out.iter_mut().enumerate().for_each(|(j, x)| *x = rows[j * k + p]);
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npu::simulate::numerics::GARBAGE;

    #[test]
    fn memory_order_is_what_a_wrong_reader_sees() {
        let rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let bits = Arc::new(bf16_bits(&rows));
        let weight =
            |order| Content::Weight(Arc::new(Weight::new(Arc::clone(&bits), 3, order, Keep::Grid)));
        assert_eq!(&*weight(Order::Rows).values(6), rows);
        assert_eq!(&*weight(Order::Columns).values(6), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(&*weight(Order::Columns).columns(3, 2), rows);
        assert_eq!(&*weight(Order::Rows).columns(3, 2), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    }

    #[test]
    fn what_nobody_wrote_is_garbage_that_can_be_seen() {
        let is_garbage = |x: &f32| x.is_finite() && x.abs() >= GARBAGE && bf16_rne(*x) == *x;
        assert!(Content::Nothing.values(999).iter().all(is_garbage));
        let short = Content::of(vec![1.0]);
        assert_eq!(short.values(2)[0], 1.0);
        assert!(is_garbage(&short.values(2)[1]));
        assert!(Content::Nothing.bits(9).iter().all(|bits| is_garbage(&from_bits(*bits))));
        assert_eq!(*Content::Nothing.values(9), *Content::Nothing.values(9));
    }
}
