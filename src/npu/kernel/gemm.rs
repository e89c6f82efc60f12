//! GEMM: a matrix of tokens times a weight, on the whole array.
//!
//! - **Herd** up to 8 × 4 tiles (S): columns split m, rows split n. Three streams.
//! - **Tile**: 64 × 128 with k_l2 256 and k_l1 32 unless a drain wants 32 rows (S, `kernels.toml`).
//! - **L1** `acc·tm·tn + 4·k_l1·(tm+tn) + stack ≤ 65536`, acc 4 bytes, 2 when direct; a drain holds
//!   `2·tm·tn` more (I, `legality.md`: 151 timed rows, three exceptions, each with an assumed k_l1).
//! - **L2** of each memory tile `4·k_l2·(tm+tn) + acc·tm·tn·herd rows ≤ 524288`, acc 4 bytes, 2 for a
//!   drain and direct (I: our reconstruction, no exception, eight rows sit exactly on it).
//! - **Limits**: `m % (tm·columns)`, `n % (tn·rows)`, `k % k_l2`, `k_l2 % k_l1` are 0, of which the
//!   compiler asserts depth alone and the others are silently wrong (M, rules F, G, H); tm and tn
//!   of 16, k_l1 of 8 (I); `k_l2·n ≤ 2^21` elements, the stride of a descriptor in words (S). A
//!   deny-list of depths with few factors of two is silently wrong (M, rule L). k above 4096 that is
//!   no multiple of 1024 must be the first launch (M, rule Q). A draining GEMM of four rounds must
//!   not be alone (M). A fused cast has an f32 scratch buffer (S).
//! - **Rounding**: both operands become bfp16, groups of 8 along k, mantissas of 8 bits to nearest
//!   even; sums are f32. External stores f32, a drain rounds to nearest even, the cast of a fused
//!   cast floors, direct rounds its bf16 accumulator after each 32 of depth (I, `numerics.md` §1, §2).
//! - **Errors**: rtol 1.6e-2, atol 1.5e-3, direct 4e-3 (S); mean_rel_L1 9.3e-3 external and drain,
//!   9.7e-3 fused cast, 1.0e-2 to 1.9e-2 direct by depth (M, `calibration.csv`); ±5 %.
//! - **Bound** by compute, up to 9.8 TFLOP/s (M). **Costs** `rounds · ((k/k_l2) · (core or memory,
//!   whichever is longer, + 1.053 µs) + drain)` with 676.6 cycles a call of the L1 kernel and 13.92
//!   a block of 16 × 8 × 16 (I, `arch.toml`); fused cast if m·k·n ≥ 4e9, else drain (S).

use crate::npu::program::Method;

use super::form::{Band, Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "gemm",
    aliases: &["GEMM", "gemm_bf16", "gemm_f32", "matmul"],
    computes: "y[m, n] = a[m, k] · w[k, n] in f32 accumulators, rounded as the method says",
    inputs: &["a", "w"],
    outputs: &["y", "scratch"],
    sizes: &["m", "k", "n"],
    published: &[2048, 2048, 512],
    tile: "m, n: rows and columns a core; k_l2: depth staged in L2; k_l1: depth of one L1 call; \
           herd columns split m, herd rows split n",
    streams: 3,
    rtol: 1.6e-2,
    atol: 1.5e-3,
    mean_rel_l1: Some(9.7e-3),
    band: Band::TwoSided(5.0),
    surrogate: None,
};

/// A fused cast needs `scratch`, an f32 buffer of the result's size, as second output: without it
/// the result is zeros.
pub(super) fn operands(m: usize, k: usize, n: usize, method: Method) -> Operands {
    let size = product(&[m, n]);
    let inputs = vec![Operand::bf16("a", product(&[m, k])), Operand::bf16("w", product(&[k, n]))];
    let outputs = match method {
        Method::FusedCast => vec![Operand::bf16("y", size), Operand::f32("scratch", size)],
        Method::Drain | Method::Direct => vec![Operand::bf16("y", size)],
        Method::External => vec![Operand::f32("y", size)],
    };
    Operands { inputs, outputs }
}

/// Published mean error by method. Direct rounds its accumulator once in 32 of depth, so it alone
/// grows with k: between the published depths the logarithm of k is interpolated, outside of them
/// nothing is known. Source: `shared/npu/numerics.md` §1 and §2.
pub(super) fn published_error(k: usize, method: Method) -> Option<f64> {
    match method {
        Method::External | Method::Drain => Some(9.3e-3),
        Method::FusedCast => Some(9.7e-3),
        Method::Direct => DIRECT.windows(2).find_map(|pair| {
            let [(from, low), (to, high)] = [pair[0], pair[1]];
            let ln = |k: usize| (k as f64).ln();
            (from..=to)
                .contains(&k)
                .then(|| low + (high - low) * (ln(k) - ln(from)) / (ln(to) - ln(from)))
        }),
    }
}

/// Depth, and the error of the direct method at it.
const DIRECT: &[(usize, f64)] = &[
    (512, 1.00e-2),
    (1024, 1.10e-2),
    (1536, 1.20e-2),
    (2048, 1.29e-2),
    (2560, 1.37e-2),
    (4096, 1.52e-2),
    (8192, 1.90e-2),
];
