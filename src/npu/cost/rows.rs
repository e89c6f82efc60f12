//! Measured rows: kernels of a CSV table with the columns of `calibration.csv`, and predictions.

use std::collections::BTreeMap;

use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch, Method, Tile};

use super::gemm::{self, Gemm};
use super::launch::{launch_us, solo_us};

/// One row: a kernel run alone, or inside a dispatch.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub id: String,
    pub launch: Launch,
    pub inside: bool,
    /// The result is f32 though the method's own is bf16.
    pub wide_result: bool,
    /// What was measured, in microseconds; absent where the cell is empty.
    pub measured_us: Option<f64>,
    /// A cell that is no size, in words: such a row means nothing.
    pub flaw: Option<String>,
    /// Why the row must not be scored; empty for a good one.
    pub exclude: String,
}

/// Predicted microseconds of a row.
pub fn predict(row: &Row, array: &Array) -> f64 {
    if let (Kernel::Gemm { m, k, n, method: Method::Direct }, true) =
        (row.launch.kernel, row.wide_result)
    {
        let Launch { tile, herd, .. } = row.launch;
        let wide = Gemm { shape: [m, k, n], tile, herd, method: Method::Direct, out_bytes: 4 };
        return array.coefficients.dispatch_us + gemm::work_us(&wide, array);
    }
    if row.inside { launch_us(&row.launch, array) } else { solo_us(&row.launch, array) }
}

/// Reads the rows that are single kernels; the others (whole dispatches, whole models) are left
/// out. A cell that is missing or no number reads as absent.
pub fn read_rows(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    let Some(header) = lines.next() else { return Vec::new() };
    let columns = cells(header);
    let row = |line: &str| {
        let values = cells(line);
        row(&columns.iter().map(String::as_str).zip(values.iter().map(String::as_str)).collect())
    };
    lines.filter_map(row).collect()
}

fn row(cell: &BTreeMap<&str, &str>) -> Option<Row> {
    let text = |name: &str| cell.get(name).copied().unwrap_or_default().trim();
    let size = |name: &str| text(name).parse::<f64>().map_or(0, |n| n as usize);
    let or = |name: &str, other: usize| if text(name).is_empty() { other } else { size(name) };
    let inside = match text("regime") {
        "solo" => false,
        "insitu" => true,
        _ => return None,
    };
    let (m, k, n) = (or("M", 1), size("K"), or("N", 1));
    let elements = m.saturating_mul(n);
    let kernel = match text("kernel") {
        "GEMM" => Kernel::Gemm { m, k, n, method: method(text("method"))? },
        "GEMV" => Kernel::Gemv { k, n: m },
        "FlashAttn" => Kernel::FlashAttention {
            queries: m,
            keys: k,
            heads: size("heads_q"),
            kv_heads: size("heads_kv"),
            head_dim: size("hd"),
            causal: size("causal") == 1,
        },
        "RMSNorm" => Kernel::RmsNorm { rows: m, width: n },
        "LayerNorm" => Kernel::LayerNorm { rows: m, width: n },
        "RoPE" => Kernel::Rope { rows: m, width: n },
        "BiasAdd" => Kernel::BiasAdd { rows: m, width: n },
        "SiLUMul" => Kernel::SiluMul { elements },
        "GELU" => Kernel::Gelu { elements },
        "EltwiseAdd" => Kernel::Add { elements },
        "Cast" => Kernel::Cast { elements },
        _ => return None,
    };
    let herd = [or("cols", 8), or("rows", 1)];
    let written = Tile {
        m: size("tile_m"),
        k_l2: size("tile_k_l2"),
        k_l1: size("tile_k_l1"),
        n: size("tile_n"),
    };
    let tile = tile(&kernel, written, herd);
    // Left empty is not known; anything else must be a size.
    let is_size = |text: &str| text.parse::<f64>().is_ok_and(|n| n.is_finite() && n >= 0.0);
    let odd = |name: &&&str| !text(name).is_empty() && !is_size(text(name));
    let flaw = SIZES.iter().find(odd).map(|name| format!("`{name}` is `{}`", text(name)));
    Some(Row {
        flaw,
        id: text("id").to_owned(),
        launch: Launch { kernel, inputs: Vec::new(), outputs: Vec::new(), herd, tile },
        inside,
        wide_result: text("out_dtype") == "f32",
        measured_us: text("latency_us").parse().ok(),
        exclude: text("exclude").to_owned(),
    })
}

/// Columns that hold sizes.
const SIZES: [&str; 12] = [
    "M",
    "K",
    "N",
    "heads_q",
    "heads_kv",
    "hd",
    "tile_m",
    "tile_k_l2",
    "tile_k_l1",
    "tile_n",
    "cols",
    "rows",
];

/// The tile of a launch from the columns of the table, which name tiles as each kernel's own
/// harness does; what a row leaves out is as the harness sets it.
fn tile(kernel: &Kernel, written: Tile, herd: [usize; 2]) -> Tile {
    let or = |size: usize, other: usize| if size == 0 { other } else { size };
    match *kernel {
        // `tile_n` is `m_input`; a depth past 255 chunks of 32 is split into pieces of 128.
        Kernel::Gemv { k, .. } => {
            let split = if k > 32 * 255 { k / 128 } else { 0 };
            Tile {
                m: written.m,
                k_l1: or(written.n, written.m),
                k_l2: or(written.k_l2, split),
                n: 0,
            }
        }
        // `tile_m` are the queries of one of four tiles, `tile_n` the keys of a chunk.
        Kernel::FlashAttention { .. } => Tile {
            m: or(written.m.saturating_mul(4), 256),
            k_l1: or(written.n, 64),
            ..Tile::default()
        },
        Kernel::SiluMul { elements }
        | Kernel::Gelu { elements }
        | Kernel::Add { elements }
        | Kernel::Cast { elements } => {
            let share = elements / herd[0].max(1).saturating_mul(herd[1].max(1)).max(1);
            let steps = (1..=128).rev().map(|n| 16 * n);
            let whole = steps.into_iter().find(|n| share.is_multiple_of(*n)).unwrap_or(16);
            Tile { n: or(written.n, whole), ..Tile::default() }
        }
        _ => written,
    }
}

fn method(name: &str) -> Option<Method> {
    Some(match name {
        "fused-cast" => Method::FusedCast,
        "drain" => Method::Drain,
        "direct" => Method::Direct,
        "ext" => Method::External,
        _ => return None,
    })
}

/// Cells of one line; a quoted cell may hold commas and doubled quotes.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let last = cells.last_mut().expect("never empty");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                last.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => last.push(c),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_their_commas() {
        assert_eq!(cells(r#"a,"b, ""c""",,d"#), ["a", r#"b, "c""#, "", "d"]);
    }

    #[test]
    fn rubbish_is_no_row() {
        assert!(read_rows("").is_empty());
        assert!(read_rows("id,kernel\n1,GEMM\nx").is_empty());
        let rows = read_rows("id,kernel,regime,M,N\n1,RoPE,solo,-5,1e30\n");
        assert_eq!(rows[0].launch.kernel, Kernel::Rope { rows: 0, width: usize::MAX });
    }
}
