//! Time of a GEMM on the array: steps of depth bound by core or memory, then the result drained.

use crate::npu::array::Array;
use crate::npu::program::{Method, Tile};

/// Shape and spread of one GEMM. `out_bytes` is what one element of its result takes in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gemm {
    pub(super) shape: [usize; 3],
    pub(super) tile: Tile,
    pub(super) herd: [usize; 2],
    pub(super) method: Method,
    pub(super) out_bytes: usize,
}

/// Microseconds of work, launch costs apart. The formula and its exponent are those of
/// `shared/npu/reference/npu2_cost.py`.
pub(super) fn work_us(gemm: &Gemm, array: &Array) -> f64 {
    let f = |n: usize| n.max(1) as f64;
    let c = &array.coefficients;
    let [m, k, n] = gemm.shape;
    let Tile { m: tm, k_l2, k_l1, n: tn } = gemm.tile;
    let [hm, hn] = gemm.herd;
    let rounds = m as f64 / (f(tm) * f(hm));
    let iterations = rounds * (n as f64 / (f(tn) * f(hn)));

    // 1. One step of `k_l2` deep on a core: calls of the L1 kernel, each a number of 2×2 blocks.
    let blocks = (f(tm) / 16.0) * (f(tn) / 16.0);
    let call = match gemm.method {
        Method::Direct => c.gemm_direct_call + blocks * c.gemm_direct_block * (f(k_l1) / 32.0),
        _ => c.gemm_call + blocks * c.gemm_block * (f(k_l1) / 8.0),
    };
    let core = call / c.cycles_per_us * (f(k_l2) / f(k_l1));

    // 2. The same step through memory: one link a core, and the shared DDR.
    let (a, b) = (f(tm) * f(k_l2) * 2.0, f(tn) * f(k_l2) * 2.0);
    let link = a.max(b) / (array.bandwidth.link * 1e3);
    let ddr = (a * f(hm) + b * f(hn)) / (array.bandwidth.gemm_read * 1e3);
    let step = smooth_max(core, link.max(ddr)) + c.gemm_step_us;

    // 3. The result: written out, drained through the core where the method does so, and exposed
    //    where no second block of rows hides the first.
    let acc = match gemm.method {
        Method::External | Method::FusedCast => 4,
        Method::Drain | Method::Direct => gemm.out_bytes,
    };
    let bytes = f(tm) * f(tn) * f(hm) * f(hn) * f(acc);
    let mut result = bytes / (array.bandwidth.gemm_write * 1e3);
    if gemm.method == Method::Drain {
        result += f(tm) * f(tn) * c.gemm_drain / c.cycles_per_us;
    }
    if rounds < 1.5 {
        result += c.gemm_exposed_us * f(hm) / 8.0;
    }
    iterations * ((k as f64 / f(k_l2)) * step + result)
}

/// The larger of two, rounded where they meet: overlap is never perfect.
fn smooth_max(a: f64, b: f64) -> f64 {
    const POWER: f64 = 6.0;
    let most = a.max(b);
    if most <= 0.0 {
        return 0.0;
    }
    most * ((a / most).powf(POWER) + (b / most).powf(POWER)).powf(1.0 / POWER)
}
