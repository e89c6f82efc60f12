//! The coefficients that are fitted: each by name, with its place in the array.

use crate::npu::array::Array;

/// One coefficient. All are positive; their names are those of `Coefficients` and `Bandwidth`.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    /// What one expects before any fit, to a factor of two: cycles of a loop, rates of a link.
    pub(super) expected: f64,
    place: fn(&mut Array) -> &mut f64,
}

impl Parameter {
    pub(super) fn of(&self, array: &Array) -> f64 {
        *(self.place)(&mut array.clone())
    }

    pub(super) fn set(&self, array: &mut Array, value: f64) {
        *(self.place)(array) = value;
    }
}

/// The array before any fit.
pub(super) fn expected(array: &Array) -> Array {
    let mut array = array.clone();
    for parameter in PARAMETERS {
        parameter.set(&mut array, parameter.expected);
    }
    array
}

macro_rules! parameters {
    ($($name:literal ~ $expected:literal => $($field:ident).+ $([$at:literal])?,)*) => {
        &[$(Parameter { name: $name, expected: $expected, place: |array| &mut array.$($field).+ $([$at])? },)*]
    };
}

pub(super) const PARAMETERS: &[Parameter] = parameters![
    "dispatch_us" ~ 75.0 => coefficients.dispatch_us,
    "launch_us" ~ 40.0 => coefficients.launch_us,
    "launch_tile_us" ~ 8.0 => coefficients.launch_tile_us,
    "gemm_call" ~ 690.0 => coefficients.gemm_call,
    "gemm_block" ~ 15.0 => coefficients.gemm_block,
    "gemm_direct_call" ~ 800.0 => coefficients.gemm_direct_call,
    "gemm_direct_block" ~ 130.0 => coefficients.gemm_direct_block,
    "gemm_step_us" ~ 0.8 => coefficients.gemm_step_us,
    "gemm_drain" ~ 4.3 => coefficients.gemm_drain,
    "gemm_exposed_us" ~ 20.0 => coefficients.gemm_exposed_us,
    "gemm_read" ~ 51.0 => bandwidth.gemm_read,
    "gemm_write" ~ 42.0 => bandwidth.gemm_write,
    "cast" ~ 1.2 => coefficients.cast,
    "add" ~ 1.2 => coefficients.add,
    "silu_mul" ~ 3.5 => coefficients.silu_mul,
    "gelu" ~ 4.0 => coefficients.gelu,
    "rms_norm" ~ 2.0 => coefficients.rms_norm,
    "rms_norm_row" ~ 100.0 => coefficients.rms_norm_row,
    "layer_norm" ~ 4.2 => coefficients.layer_norm,
    "rope" ~ 1.0 => coefficients.rope,
    "rope_row" ~ 50.0 => coefficients.rope_row,
    "gemv_weight" ~ 0.84 => coefficients.gemv_weight,
    "gemv_row" ~ 90.0 => coefficients.gemv_row,
    "attention_fixed_us" ~ 600.0 => coefficients.attention_fixed_us,
    "attention_pass_us_64" ~ 35.0 => coefficients.attention_pass_us[0],
    "attention_chunk_us_64" ~ 9.7 => coefficients.attention_chunk_us[0],
    "attention_pass_us_128" ~ 69.0 => coefficients.attention_pass_us[1],
    "attention_chunk_us_128" ~ 25.7 => coefficients.attention_chunk_us[1],
];
