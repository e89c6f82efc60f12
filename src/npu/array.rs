//! The array: tiles, memories, data movers and the fitted costs of one XDNA 2 device.
//!
//! Marks beside the numbers: S read in driver or compiler source, D vendor document, M measured on
//! silicon and published, I inferred from published measurements. Sources are named in
//! `shared/npu/arch.toml` and `shared/npu/reference/coeffs.json`.

use super::class::{Classes, built_in};

/// Mean absolute error of the cost model over the published rows it was fitted on, in percent.
/// A test measures it again; every predicted time that a person sees carries it.
pub const CALIBRATION_ERROR_PCT: f64 = 4.9;

/// What a program may use of the device, and what it costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub name: &'static str,
    /// Columns and rows of compute tiles.
    pub cols: usize,
    pub rows: usize,
    /// Memory of a compute tile, and what its stack takes of it.
    pub l1_bytes: usize,
    pub stack_bytes: usize,
    /// Memory of one memory tile; there is one a column.
    pub l2_bytes: usize,
    pub dma: DmaLimits,
    /// Launches that one dispatch may hold before its compilation takes more than ten minutes (M).
    pub launches_max: usize,
    /// Contexts that one process keeps open before the driver refuses (M).
    pub contexts_max: usize,
    pub coefficients: Coefficients,
    pub bandwidth: Bandwidth,
    pub host: HostRates,
    pub peak: Peak,
    /// How sure predictions are, by class of kernel.
    pub classes: Classes,
}

/// Limits of buffer descriptors and streams.
#[derive(Clone, Debug, PartialEq)]
pub struct DmaLimits {
    /// Stride field of a descriptor, in 32-bit words (S).
    pub stride_max_words: usize,
    /// Repeat field of a queue push (S).
    pub repeat_max: usize,
    /// Descriptors of a shim channel (S), each of which element-wise chains repeat this often (M).
    pub shim_descriptors: usize,
    pub chain_repeats: usize,
    /// Tiles that kernels with two and with three streams may cover (M).
    pub two_stream_tiles: usize,
    pub three_stream_tiles: usize,
}

/// Coefficients of the cost formulas: cycles at 1800 a microsecond unless the name says `_us`.
/// All are fits to the calibration rows (I).
#[derive(Clone, Debug, PartialEq)]
pub struct Coefficients {
    pub cycles_per_us: f64,
    /// One call of the array, start to wait.
    pub dispatch_us: f64,
    /// One launch inside a dispatch, and each core tile of its herd.
    pub launch_us: f64,
    pub launch_tile_us: f64,
    /// GEMM: one call of the L1 kernel, and each 2×2 block of 8×8×8 products in it.
    pub gemm_call: f64,
    pub gemm_block: f64,
    pub gemm_direct_call: f64,
    pub gemm_direct_block: f64,
    pub gemm_step_us: f64,
    pub gemm_drain: f64,
    /// What the first block of rows exposes when there is no second one to hide it.
    pub gemm_exposed_us: f64,
    pub cast: f64,
    pub add: f64,
    pub silu_mul: f64,
    pub gelu: f64,
    pub rms_norm: f64,
    pub rms_norm_row: f64,
    pub layer_norm: f64,
    pub rope: f64,
    pub rope_row: f64,
    pub gemv_weight: f64,
    pub gemv_row: f64,
    /// FlashAttention alone: fixed part, then per 256 queries of two heads, then per 256 keys.
    pub attention_fixed_us: f64,
    pub attention_pass_us: [f64; 2],
    pub attention_chunk_us: [f64; 2],
    /// Attention inside a deployment against attention alone; nobody knows why.
    pub attention_deployed: f64,
}

/// Gigabytes a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Bandwidth {
    /// One stream link (D).
    pub link: f64,
    /// What a GEMM reads and writes at (I).
    pub gemm_read: f64,
    pub gemm_write: f64,
    /// What a GEMV streams its weights at inside a dispatch: the LM head's published dispatches
    /// reach 38 to 46 (M), more than one run alone.
    pub gemv_read: f64,
    /// Copy and cache flush of a buffer object, warm (M).
    pub host_write: f64,
    /// Copy back: 210 MB fewer took 31 ms off a published feed-forward call (M).
    pub host_read: f64,
}

/// What the host costs. Units: microseconds, and work a microsecond.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRates {
    /// Driver (70) and interpreter (73) around each array call, the path that the published
    /// deployments use; a tuned one takes 60 (M).
    pub call_us: f64,
    /// One small host operator: 0.13 ms a layer for the three of a five-dispatch decode (M).
    pub operator_us: f64,
    /// Attention: fixed part, and floating-point operations a microsecond. From 0.2 ms a layer at
    /// 50 tokens of context and 1.8 at 2048 for Llama-3.2-1B (M); the published prefill with
    /// attention on the host (about 2.5 s a layer at 2048) agrees within a third.
    pub attention_us: f64,
    pub attention_flops: f64,
    /// LM head: 258 ms for 128256 × 2048 (M).
    pub lm_head_flops: f64,
    /// Element-wise work on long rows: QK-norm and RoPE of Qwen3 took 10–15 ms a layer (M).
    pub elements: f64,
    /// Bytes a microsecond of a transpose: six of them a layer took 4.4 ms (I).
    pub transpose_bytes: f64,
}

/// What nothing can exceed; floors are made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Peak {
    /// Multiply-adds a cycle of one tile, bf16 through bfp16 (S).
    pub macs_per_cycle: f64,
    /// Gigabytes a second of the memory that host and array share (D).
    pub ddr: f64,
}

impl Array {
    /// The NPU of Strix laptops: 8 × 4 tiles of AIE2P at 1.8 GHz.
    pub fn xdna2() -> Self {
        Self {
            name: "xdna2",
            cols: 8,
            rows: 4,
            l1_bytes: 65_536,
            stack_bytes: 1_024,
            l2_bytes: 524_288,
            dma: DmaLimits {
                stride_max_words: 1_048_576,
                repeat_max: 255,
                shim_descriptors: 16,
                chain_repeats: 32,
                two_stream_tiles: 16,
                three_stream_tiles: 8,
            },
            launches_max: 8,
            contexts_max: 10,
            coefficients: FITTED,
            bandwidth: Bandwidth {
                link: 14.4,
                gemm_read: 50.733,
                gemm_write: 46.890,
                gemv_read: 42.7,
                host_write: 16.0,
                host_read: 6.8,
            },
            host: HostRates {
                call_us: 145.0,
                operator_us: 43.0,
                attention_us: 160.0,
                attention_flops: 10_240.0,
                lm_head_flops: 2_036.0,
                elements: 1_000.0,
                transpose_bytes: 5_000.0,
            },
            peak: Peak { macs_per_cycle: 512.0, ddr: 120.0 },
            classes: built_in(),
        }
    }

    pub fn tiles(&self) -> usize {
        self.cols * self.rows
    }

    /// L1 that is left for data.
    pub fn l1_free(&self) -> usize {
        self.l1_bytes - self.stack_bytes
    }
}

impl Default for Array {
    fn default() -> Self {
        Self::xdna2()
    }
}

/// `shared/npu/reference/coeffs.json`, rounded to what the fit can tell apart.
const FITTED: Coefficients = Coefficients {
    cycles_per_us: 1800.0,
    dispatch_us: 77.545,
    launch_us: 38.355,
    launch_tile_us: 7.4075,
    gemm_call: 676.61,
    gemm_block: 13.924,
    gemm_direct_call: 653.68,
    gemm_direct_block: 133.53,
    gemm_step_us: 1.0530,
    gemm_drain: 3.2646,
    gemm_exposed_us: 8.6627,
    cast: 1.4458,
    add: 1.2374,
    silu_mul: 3.5287,
    gelu: 4.0865,
    rms_norm: 2.0935,
    rms_norm_row: 295.78,
    layer_norm: 4.5091,
    rope: 0.96664,
    rope_row: 51.250,
    gemv_weight: 0.85672,
    gemv_row: 25.670,
    attention_fixed_us: 609.81,
    attention_pass_us: [36.298, 71.737],
    attention_chunk_us: [9.1946, 24.266],
    attention_deployed: 1.311,
};
