//! How sure a prediction is, by class of kernel.
//!
//! A class knows how far measurements lay from what was predicted without them, and which sizes
//! were measured at all.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::program::{Kernel, Launch, Method};

/// One class of kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Measured rows that it stands on.
    pub rows: usize,
    /// Quantiles of 10 and 90 % of `ln(measured / predicted)`, each row predicted by a fit that
    /// had not seen its shape.
    pub low: f64,
    pub high: f64,
    /// Least and largest of each size that was measured.
    pub hull: BTreeMap<String, [f64; 2]>,
}

/// Classes by name.
pub type Classes = BTreeMap<String, Class>;

/// Those of the calibration that is built in: `classes.toml`, which a test measures again.
pub(super) fn built_in() -> Classes {
    static BUILT_IN: OnceLock<Classes> = OnceLock::new();
    let read = || {
        let file: File = toml::from_str(include_str!("classes.toml")).unwrap_or_default();
        file.class
    };
    BUILT_IN.get_or_init(read).clone()
}

#[derive(Default, Deserialize)]
struct File {
    class: Classes,
}

/// The class of a launch. Streaming kernels share one: few were measured of each.
pub(super) fn class_of(kernel: &Kernel) -> &'static str {
    match kernel {
        Kernel::Gemm { method: Method::FusedCast, .. } => "gemm fused-cast",
        Kernel::Gemm { method: Method::Drain, .. } => "gemm drain",
        Kernel::Gemm { method: Method::Direct, .. } => "gemm direct",
        Kernel::Gemm { method: Method::External, .. } => "gemm external",
        Kernel::Gemv { .. } => "gemv",
        Kernel::FlashAttention { .. } => "flash-attention",
        _ => "streaming",
    }
}

/// The sizes of a launch that its time depends on.
pub(super) fn sizes(launch: &Launch) -> BTreeMap<String, f64> {
    let tiles = launch.herd[0].max(1) * launch.herd[1].max(1);
    let of: Vec<(&str, usize)> = match launch.kernel {
        Kernel::Gemm { m, k, n, .. } => {
            let tile = launch.tile;
            vec![("m", m), ("k", k), ("n", n), ("tile_m", tile.m), ("tile_n", tile.n)]
        }
        Kernel::Gemv { k, n } => vec![("k", k), ("n", n)],
        Kernel::FlashAttention { queries, keys, heads, head_dim, .. } => {
            vec![("queries", queries), ("keys", keys), ("heads", heads), ("head_dim", head_dim)]
        }
        ref other => {
            let made = other.operands().outputs.first().map_or(0, |operand| operand.elements);
            vec![("elements", made)]
        }
    };
    let all = of.into_iter().chain([("tiles", tiles)]);
    all.map(|(name, size)| (name.to_owned(), size as f64)).collect()
}

impl Class {
    /// Whether a launch lies within what was measured.
    pub fn holds(&self, launch: &Launch) -> bool {
        sizes(launch).iter().all(|(name, size)| {
            self.hull.get(name).is_none_or(|[least, most]| size >= least && size <= most)
        })
    }
}
