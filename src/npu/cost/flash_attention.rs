//! Time of FlashAttention: a fixed part, a pass for 256 queries of two heads, a chunk for 256 keys.

use crate::npu::array::Array;

/// Microseconds of the kernel run alone, its dispatch included. The measurements show no gain from
/// causality inside the kernel, so none is modelled.
pub(super) fn alone_us(
    queries: usize,
    keys: usize,
    heads: usize,
    head_dim: usize,
    cols: usize,
    array: &Array,
) -> f64 {
    let c = &array.coefficients;
    let wide = usize::from(head_dim > 64);
    let share = 8.0 / cols.max(1) as f64;
    let passes = heads as f64 / 2.0 * share * (queries as f64 / 256.0);
    let pass = c.attention_pass_us[wide] + keys as f64 / 256.0 * c.attention_chunk_us[wide];
    c.attention_fixed_us + passes * pass
}
