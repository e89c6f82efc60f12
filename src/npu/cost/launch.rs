//! Time of one launch: set-up by the tiles it covers, then its work; alone or inside a dispatch.

use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch, Method};

use super::gemm::Gemm;
use super::{flash_attention, gemm, gemv, vector};

/// Set-up of a launch inside a dispatch, and its work on the tiles, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Inside {
    pub(super) setup: f64,
    pub(super) work: f64,
}

/// Tiles of the cast that follows a fused GEMM.
const CAST_TILES: f64 = 8.0;

pub(super) fn inside(launch: &Launch, array: &Array) -> Inside {
    let c = &array.coefficients;
    let tiles = tiles(launch);
    let setup = c.launch_us + c.launch_tile_us * tiles;
    match launch.kernel {
        Kernel::Gemm { m, n, method: Method::FusedCast, .. } => {
            let cast = Kernel::Cast { elements: m.saturating_mul(n) };
            Inside {
                setup: setup + c.launch_us + c.launch_tile_us * CAST_TILES,
                work: work(launch, array) + vector::work_us(&cast, CAST_TILES, array),
            }
        }
        // Measured as a dispatch of its own only: its set-up is inside the fixed part.
        Kernel::FlashAttention { .. } => {
            let deployed = work(launch, array) * c.attention_deployed;
            Inside { setup: 0.0, work: (deployed - c.dispatch_us).max(0.0) }
        }
        Kernel::Gemv { k, n } => Inside { setup, work: gemv::inside_us(k, n, tiles, array) },
        _ => Inside { setup, work: work(launch, array) },
    }
}

/// Microseconds of a launch inside a dispatch, the call of the dispatch apart.
pub fn launch_us(launch: &Launch, array: &Array) -> f64 {
    let Inside { setup, work } = inside(launch, array);
    setup + work
}

/// Microseconds of a launch that is run alone by its own binary, as kernels are measured.
pub fn solo_us(launch: &Launch, array: &Array) -> f64 {
    let c = &array.coefficients;
    match launch.kernel {
        Kernel::FlashAttention { .. } => work(launch, array),
        Kernel::Gemm { method: Method::FusedCast, .. } => c.dispatch_us + launch_us(launch, array),
        _ => c.dispatch_us + work(launch, array),
    }
}

fn tiles(launch: &Launch) -> f64 {
    launch.herd[0].max(1) as f64 * launch.herd[1].max(1) as f64
}

fn work(launch: &Launch, array: &Array) -> f64 {
    let (tile, herd) = (launch.tile, launch.herd);
    match launch.kernel {
        Kernel::Gemm { m, k, n, method } => {
            let out_bytes = if method == Method::External { 4 } else { 2 };
            gemm::work_us(&Gemm { shape: [m, k, n], tile, herd, method, out_bytes }, array)
        }
        Kernel::Gemv { k, n } => gemv::work_us(k, n, tiles(launch), array),
        Kernel::FlashAttention { queries, keys, heads, head_dim, .. } => {
            flash_attention::alone_us(queries, keys, heads, head_dim, herd[0], array)
        }
        ref other => vector::work_us(other, tiles(launch), array),
    }
}
