//! How a launch is spread over the array: published tilings first, then what the rules leave.

use std::fmt;

use crate::base::Finding;
use crate::model::Stage;
use crate::npu::array::Array;
use crate::npu::check::{corrupts_alone, legal};
use crate::npu::cost;
use crate::npu::program::{Kernel, Launch, Method, Tile};

use super::published::ROWS;

/// Tile, herd and, for a GEMM, method of one launch. Written `drain 32/256/32/128 on 8x4`, and
/// without the method for other kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::npu) struct Tiling {
    pub(in crate::npu) method: Option<Method>,
    pub(in crate::npu) tile: Tile,
    pub(in crate::npu) herd: [usize; 2],
}

impl Tiling {
    fn of(method: Method, tile: [usize; 4], herd: [usize; 2]) -> Self {
        let [m, k_l2, k_l1, n] = tile;
        Self { method: Some(method), tile: Tile { m, k_l2, k_l1, n }, herd }
    }

    fn plain(tile: Tile, herd: [usize; 2]) -> Self {
        Self { method: None, tile, herd }
    }

    pub(in crate::npu) fn of_launch(launch: &Launch) -> Self {
        let method = match launch.kernel {
            Kernel::Gemm { method, .. } => Some(method),
            _ => None,
        };
        Self { method, tile: launch.tile, herd: launch.herd }
    }

    /// The kernel with this tiling's method.
    pub(in crate::npu) fn kernel(self, kernel: Kernel) -> Kernel {
        match (kernel, self.method) {
            (Kernel::Gemm { m, k, n, .. }, Some(method)) => Kernel::Gemm { m, k, n, method },
            (other, _) => other,
        }
    }

    /// The launch of `kernel` under this tiling, without operands.
    pub(in crate::npu) fn launch(self, kernel: Kernel) -> Launch {
        let (herd, tile) = (self.herd, self.tile);
        let (inputs, outputs) = (Vec::new(), Vec::new());
        Launch { kernel: self.kernel(kernel), inputs, outputs, herd, tile }
    }

    pub(in crate::npu) fn parse(text: &str) -> Option<Self> {
        let (head, herd) = text.split_once(" on ")?;
        let (method, tile) = match head.split_once(' ') {
            Some((name, tile)) => (Some(METHODS.iter().find(|row| row.0 == name)?.1), tile),
            None => (None, head),
        };
        let mut tile = tile.split('/').map(str::parse);
        let mut next = || tile.next()?.ok();
        let tile = Tile { m: next()?, k_l2: next()?, k_l1: next()?, n: next()? };
        let (cols, rows) = herd.split_once('x')?;
        Some(Self { method, tile, herd: [cols.parse().ok()?, rows.parse().ok()?] })
    }
}

impl fmt::Display for Tiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = METHODS.iter().find(|row| Some(row.1) == self.method) {
            write!(f, "{name} ")?;
        }
        let Tile { m, k_l2, k_l1, n } = self.tile;
        write!(f, "{m}/{k_l2}/{k_l1}/{n} on {}x{}", self.herd[0], self.herd[1])
    }
}

const METHODS: [(&str, Method); 4] = [
    ("fused-cast", Method::FusedCast),
    ("drain", Method::Drain),
    ("direct", Method::Direct),
    ("external", Method::External),
];

/// From this many multiply-adds a fused cast is the published choice, below it a drain.
const FUSED_FROM: f64 = 4e9;

/// The published tiling whose shape is nearest to `[m, k, n]` among those that are legal for it;
/// where there is none, the cheapest that the rules allow, and a finding that says so. It is right in
/// a dispatch of its own, too.
pub(in crate::npu) fn nearest(
    m: usize,
    k: usize,
    n: usize,
    array: &Array,
) -> (Tiling, Option<Finding>) {
    let wanted = preferred(m, k, n);
    let shape = [m, k, n];
    let distance = |row: &[usize; 3]| -> f64 {
        shape.iter().zip(row).map(|(a, b)| (*a as f64 / *b as f64).ln().abs()).sum()
    };
    let kernel = Kernel::Gemm { m, k, n, method: wanted };
    let near = ROWS
        .iter()
        .filter(|(method, ..)| *method != Method::Direct)
        .map(|(method, row, tile, herd)| {
            let other = if *method == wanted { 0.0 } else { 1.0 };
            (distance(row) + other, Tiling::of(*method, *tile, *herd))
        })
        .filter(|(_, tiling)| {
            let launch = tiling.launch(kernel);
            legal(&launch, array) && !corrupts_alone(&launch)
        })
        .min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((_, tiling)) = near {
        return (tiling, None);
    }
    let text = format!("no published tiling is legal for a GEMM of {m} × {k} × {n}");
    let all = gemm_tilings(m, k, n, array);
    if let Some(tiling) = all.iter().find(|tiling| !corrupts_alone(&tiling.launch(kernel))) {
        let hint = format!("chosen by rule: {tiling}; the kernel gate must prove it");
        return (*tiling, Some(Finding::note("", text).rule("gemm-unpublished").hint(hint)));
    }
    let hint = "pad m to a multiple of 256, k to one of 64 and n to one of 64 (move `pad-dims`)";
    let tiling = Tiling::of(wanted, [64, 256, 32, 128], [array.cols, array.rows]);
    (tiling, Some(Finding::error("", text).rule("gemm-no-tiling").hint(hint)))
}

fn preferred(m: usize, k: usize, n: usize) -> Method {
    let products = m as f64 * k as f64 * n as f64;
    if products >= FUSED_FROM { Method::FusedCast } else { Method::Drain }
}

/// All tilings worth trying for a GEMM of the high tier, cheapest first. Core tiles come from
/// published rows before any other: what nobody has run is tried only where nothing else fits.
pub(in crate::npu) fn gemm_tilings(m: usize, k: usize, n: usize, array: &Array) -> Vec<Tiling> {
    let kernel = Kernel::Gemm { m, k, n, method: Method::Drain };
    let mut found = Vec::new();
    let mut keep = |tiling: Tiling| {
        let launch = tiling.launch(kernel);
        if !found.iter().any(|(_, other)| *other == tiling) && legal(&launch, array) {
            found.push((cost::launch_us(&launch, array), tiling));
        }
    };
    for (method, _, [tm, _, k1, tn], herd) in ROWS {
        let whole = m.is_multiple_of(tm * herd[0]) && n.is_multiple_of(tn * herd[1]);
        if *method == Method::Direct || !whole {
            continue;
        }
        for k_l2 in depths(k, *k1) {
            keep(Tiling::of(*method, [*tm, k_l2, *k1, *tn], *herd));
        }
    }
    if found.is_empty() {
        for (tm, tn, k1, cols, rows) in grid(m, n) {
            for k_l2 in depths(k, k1) {
                let tile = [tm, k_l2, k1, tn];
                let mut keep = |tiling: Tiling| {
                    let launch = tiling.launch(kernel);
                    if legal(&launch, array) {
                        found.push((cost::launch_us(&launch, array), tiling));
                    }
                };
                keep(Tiling::of(Method::Drain, tile, [cols, rows]));
                keep(Tiling::of(Method::FusedCast, tile, [cols, rows]));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, tiling)| tiling).collect()
}

/// Multiples of one L1 step that divide `k`, up to the 512 that memory tiles were seen to hold.
fn depths(k: usize, k1: usize) -> impl Iterator<Item = usize> {
    (1..=(512 / k1.max(1)).max(1))
        .map(move |steps| steps * k1)
        .filter(move |depth| k.is_multiple_of(*depth))
}

fn grid(m: usize, n: usize) -> impl Iterator<Item = (usize, usize, usize, usize, usize)> {
    let cols = [8, 6, 4, 2, 1];
    let rows = [4, 3, 2, 1];
    let tm = [64, 48, 32, 16];
    let k1 = [64, 32, 48, 80, 16];
    let shapes = cols.into_iter().flat_map(move |cols| {
        rows.into_iter().flat_map(move |rows| {
            tm.into_iter()
                .flat_map(move |tm| (1..=16).map(move |blocks| (tm, 16 * blocks, cols, rows)))
        })
    });
    shapes
        .filter(move |(tm, tn, cols, rows)| {
            m.is_multiple_of(tm * cols) && n.is_multiple_of(tn * rows)
        })
        .flat_map(move |(tm, tn, cols, rows)| {
            k1.into_iter().map(move |k1| (tm, tn, k1, cols, rows))
        })
}

/// GEMVs that the rules allow, cheapest first.
pub(in crate::npu) fn gemv_tilings(k: usize, n: usize, array: &Array) -> Vec<Tiling> {
    let kernel = Kernel::Gemv { k, n };
    let split = if k > 32 * array.dma.repeat_max { k / 128 } else { 0 };
    let mut found = Vec::new();
    for cols in [8, 4, 2, 1] {
        // The step is the tile where L1 holds it, else a row.
        let steps = [8, 16, 4, 2].into_iter().map(|m| (m, m)).chain([(2, 1)]);
        for (m, k_l1) in steps {
            let tile = Tile { m, k_l2: split, k_l1, n: 0 };
            let tiling = Tiling::plain(tile, [cols, 1]);
            let launch = tiling.launch(kernel);
            if legal(&launch, array) {
                found.push((cost::launch_us(&launch, array), tiling));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, tiling)| tiling).collect()
}

/// The GEMV to start from: eight columns where they divide, and the published tile heights.
pub(in crate::npu) fn gemv(k: usize, n: usize, array: &Array) -> (Tiling, Option<Finding>) {
    let all = gemv_tilings(k, n, array);
    let widest = all.iter().map(|tiling| tiling.herd[0]).max();
    if let Some(tiling) = all.iter().find(|tiling| Some(tiling.herd[0]) == widest) {
        return (*tiling, None);
    }
    let text = format!("no tiling is legal for a GEMV of {n} × {k}");
    let hint = "pad k to a multiple of 64 and n to one of 16 (move `pad-dims`)";
    let tile = Tile { m: 2, k_l2: 0, k_l1: 2, n: 0 };
    let finding = Finding::error("", text).rule("gemv-no-tiling").hint(hint);
    (Tiling::plain(tile, [array.cols, 1]), Some(finding))
}

/// Herds for element-wise kernels, widest first, each with its largest legal step.
pub(in crate::npu) fn vector_tilings(kernel: &Kernel, array: &Array) -> Vec<Tiling> {
    let operands = kernel.operands();
    let elements = operands.outputs[0].elements;
    let most = match kernel {
        Kernel::Add { .. } => 2048,
        _ => 4096,
    };
    let herds: &[[usize; 2]] = if kernel.form().streams == 2 {
        &[[8, 2], [8, 1], [4, 1], [2, 1], [1, 1]]
    } else {
        &[[8, 1], [4, 1], [2, 1], [1, 1]]
    };
    let step = |herd: &[usize; 2]| {
        let share = elements / (herd[0] * herd[1]);
        let steps = (1..=most / 16).rev().map(|n| 16 * n).filter(|n| share.is_multiple_of(*n));
        let mut tilings = steps
            .map(|n| Tiling::plain(Tile { n, ..Tile::default() }, *herd))
            .filter(|tiling| legal(&tiling.launch(*kernel), array));
        tilings.next()
    };
    herds.iter().filter_map(step).collect()
}

pub(in crate::npu) fn vector(kernel: &Kernel, array: &Array) -> (Tiling, Option<Finding>) {
    if let Some(tiling) = vector_tilings(kernel, array).first() {
        return (*tiling, None);
    }
    let elements = kernel.operands().outputs[0].elements;
    let text = format!("{elements} elements do not divide over any herd in steps of 16");
    let finding = Finding::error("", text).rule("vector-no-tiling").hint("pad to a multiple of 16");
    (Tiling::plain(Tile { n: 16, ..Tile::default() }, [1, 1]), Some(finding))
}

/// Herd of a kernel that works on whole rows: eight columns, or one tile for the single row of a
/// decode call, where eight were measured 6–27 % slower than one.
pub(in crate::npu) fn row_herd(rows: usize, stage: Stage, array: &Array) -> Tiling {
    let wide = stage == Stage::Prefill && rows.is_multiple_of(array.cols);
    let cols = if wide { array.cols } else { 1 };
    Tiling::plain(Tile::default(), [cols, 1])
}
