//! One launch: operands out of memory, the kernel, and what damage leaves of its result.

use super::content::{Content, Lent};
use super::damage::Damage;
use super::kernel::{
    Attention, add, bias_add, cast, flash_attention, gelu, gemm, gemv, layer_norm, pack, rms_norm,
    rope, silu_mul,
};
use super::numerics::{from_bits, to_bits};
use crate::npu::{Dtype, Kernel, Layout, Method};

/// An input as its buffer holds it.
pub(super) struct Operand<'a> {
    pub content: &'a Content,
    pub dtype: Dtype,
    pub layout: Layout,
    /// Values in its buffer, where a kernel takes its size from there.
    pub elements: usize,
}

/// What a kernel takes from the network and the call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub eps: f32,
    /// The width that attention scores are scaled for.
    pub scale_dim: usize,
    /// Position of the first query among the keys; `None`: the last queries of all keys.
    pub offset: Option<usize>,
}

/// What a launch leaves in its outputs.
pub(super) struct Made {
    pub values: Vec<f32>,
    /// The f32 product before a fused cast, when somebody reads it.
    pub scratch: Option<Vec<f32>>,
}

/// Runs the kernel. `scratch` tells whether the product before a cast is wanted.
pub(super) fn run(
    kernel: &Kernel,
    inputs: &[Operand<'_>],
    setting: Setting,
    damage: Option<Damage>,
    scratch: bool,
) -> Made {
    let take = |at: usize, count: usize| inputs[at].values(count);
    let values = match *kernel {
        Kernel::Gemm { m, k, n, method } => {
            let mut a = take(0, m * k).to_vec();
            if let Some(Damage::Depth(depth)) = damage {
                a.chunks_exact_mut(k).for_each(|row| row[depth.min(k)..].fill(0.0));
            }
            let b = inputs[1].columns(k, n);
            if scratch && method == Method::FusedCast {
                let product = gemm(a, &b, k, Method::External);
                return Made { values: cast(&product), scratch: Some(product) };
            }
            gemm(a, &b, k, method)
        }
        Kernel::Gemv { k, n } => gemv(&inputs[1].bits(n * k), &take(0, k)),
        Kernel::FlashAttention { queries, keys, heads, kv_heads, head_dim, causal } => {
            let at = Attention {
                queries,
                keys,
                heads,
                kv_heads,
                head_dim,
                scale_dim: setting.scale_dim,
                causal,
                offset: setting.offset.unwrap_or(keys.saturating_sub(queries)),
                layout: inputs[0].layout,
            };
            let cached = keys * kv_heads * head_dim;
            let q = take(0, queries * heads * head_dim);
            flash_attention(&q, &take(1, cached), &take(2, cached), &at)
        }
        Kernel::RmsNorm { rows, width } => {
            rms_norm(&take(0, rows * width), &take(1, width), setting.eps)
        }
        Kernel::LayerNorm { rows, width } => {
            let packed = take(1, 2 * width);
            let (weight, bias) = packed.split_at(width);
            layer_norm(&take(0, rows * width), weight, bias, setting.eps)
        }
        Kernel::Rope { rows, width } => {
            let turns = (inputs[1].elements / width).clamp(1, rows);
            let table = take(1, turns * width);
            let heads = (rows / turns).max(1);
            let by_token = |row: usize| (row / heads).min(turns - 1);
            let by_head = |row: usize| row % turns;
            match inputs[0].layout {
                Layout::SeqFirst => rope(&take(0, rows * width), &table, width, by_token),
                Layout::HeadsFirst => rope(&take(0, rows * width), &table, width, by_head),
            }
        }
        Kernel::SiluMul { elements } => silu_mul(&take(0, elements), &take(1, elements)),
        Kernel::Gelu { elements } => gelu(&take(0, elements)),
        Kernel::Add { elements } => add(&take(0, elements), &take(1, elements)),
        Kernel::BiasAdd { rows, width } => bias_add(&take(0, rows * width), &take(1, width)),
        Kernel::Cast { elements } => cast(&inputs[0].values_as(elements, Dtype::F32)),
    };
    Made { values, scratch: None }
}

impl Operand<'_> {
    fn values(&self, count: usize) -> Lent<'_, f32> {
        self.values_as(count, Dtype::Bf16)
    }

    fn values_as(&self, count: usize, wanted: Dtype) -> Lent<'_, f32> {
        if self.dtype.bytes() == wanted.bytes() {
            return self.content.values(count);
        }
        let held = count * wanted.bytes() / self.dtype.bytes();
        Lent::Made(recast(&self.content.values(held.max(1)), self.dtype, wanted, count))
    }

    fn columns(&self, k: usize, n: usize) -> Lent<'_, f32> {
        match self.dtype {
            Dtype::Bf16 => self.content.columns(k, n),
            _ => Lent::Made(pack(&self.values(k * n), k, n)),
        }
    }

    fn bits(&self, count: usize) -> Lent<'_, u16> {
        match self.dtype {
            Dtype::Bf16 => self.content.bits(count),
            _ => Lent::Made(self.values(count).iter().map(|x| to_bits(*x)).collect()),
        }
    }
}

/// The same bytes read as another type: what happens when a launch mistakes a buffer.
pub(super) fn recast(values: &[f32], from: Dtype, to: Dtype, count: usize) -> Vec<f32> {
    let mut out: Vec<f32> = match (from.bytes(), to.bytes()) {
        (4, 2) => {
            let halves = |x: &f32| [x.to_bits() as u16, (x.to_bits() >> 16) as u16];
            values.iter().flat_map(halves).map(from_bits).collect()
        }
        (2, 4) => {
            let whole = |pair: &[f32]| {
                let high = pair.get(1).map_or(0, |x| u32::from(to_bits(*x)));
                f32::from_bits(high << 16 | u32::from(to_bits(pair[0])))
            };
            values.chunks(2).map(whole).collect()
        }
        _ => values.to_vec(),
    };
    out.resize(count, 0.0);
    out
}

/// What memory holds after a result was written over it.
pub(super) fn store(
    made: Vec<f32>,
    dtypes: [Dtype; 2],
    elements: usize,
    before: &Content,
    damage: Option<Damage>,
    columns: usize,
) -> Content {
    let [from, to] = dtypes;
    let mut made = if from.bytes() == to.bytes() {
        made
    } else {
        let count = made.len() * from.bytes() / to.bytes();
        recast(&made, from, to, count)
    };
    made.truncate(elements);
    let written = |at: usize| match damage {
        Some(Damage::Elements(end)) => at < end,
        Some(Damage::Columns(end)) => at % columns.max(1) < end,
        _ => true,
    };
    if damage == Some(Damage::Nan) {
        made.fill(f32::NAN);
    } else if made.len() < elements || damage.is_some() {
        let old = before.values(elements);
        let have = made.len();
        made.resize(elements, 0.0);
        for (at, value) in made.iter_mut().enumerate() {
            if at >= have || !written(at) {
                *value = old[at];
            }
        }
    }
    Content::of(made)
}

/// The width of a row of a kernel's result.
pub(super) fn columns(kernel: &Kernel) -> usize {
    match *kernel {
        Kernel::Gemm { n, .. } => n,
        _ => kernel.operands().outputs[0].elements,
    }
}
