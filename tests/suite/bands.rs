//! Every published error of a kernel against the simulated one: inside its band, on both sides.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use pilotfish::npu::{Kernel, Method, Row, Trial, read_rows};

use crate::need;

/// Rows of a product that are enough: with 256 columns more than the 30,000 elements from which on
/// a mean error is sharp.
const ROWS: usize = 128;
const COLUMNS: usize = 256;
const ELEMENTS: usize = 1 << 17;
/// Rows that kernels on rows are given, and queries that attention keeps without and with a mask.
const FEW: usize = 2048;
const QUERIES: usize = 128;

/// The published mean error of a row, where it has one and is good.
fn published(header: &str, line: &str) -> Option<(Row, f64)> {
    let row = read_rows(&format!("{header}\n{line}")).pop()?;
    // Cells before this one hold no commas.
    let at = header.split(',').position(|name| name == "mean_rel_L1").unwrap();
    let error = line.split(',').nth(at)?.parse().ok()?;
    row.exclude.is_empty().then_some((row, error))
}

/// The same kernel, as small as its error allows.
///
/// An element of a product depends on one row, one column and the depth between them, so rows and
/// columns are only how often one looks: k stays. An element-wise result depends on itself, a
/// normed one on its row, whose width stays. A row of RoPE depends on its position, of which the
/// first 2048 stay. A query of attention depends on how many keys it sees: keys and head width stay,
/// a mask is met at positions from all over the sequence, and heads are only how often one looks.
fn reduced(row: &Row) -> Trial {
    let kernel = match row.launch.kernel {
        // The direct code with an f32 result is bit-identical to the external one.
        Kernel::Gemm { k, method: Method::Direct, .. } if row.wide_result => {
            Kernel::Gemm { m: ROWS, k, n: COLUMNS, method: Method::External }
        }
        Kernel::Gemm { k, method, .. } => Kernel::Gemm { m: ROWS, k, n: COLUMNS, method },
        Kernel::Gemv { k, .. } => Kernel::Gemv { k, n: COLUMNS },
        Kernel::FlashAttention { queries, keys, head_dim, causal, .. } => {
            let queries = if causal { queries } else { QUERIES };
            Kernel::FlashAttention { queries, keys, heads: 2, kv_heads: 1, head_dim, causal }
        }
        Kernel::RmsNorm { rows, width } => Kernel::RmsNorm { rows: rows.min(FEW), width },
        Kernel::LayerNorm { rows, width } => Kernel::LayerNorm { rows: rows.min(FEW), width },
        Kernel::Rope { rows, width } => Kernel::Rope { rows: rows.min(FEW), width },
        Kernel::Add { .. } => Kernel::Add { elements: ELEMENTS },
        Kernel::SiluMul { .. } => Kernel::SiluMul { elements: ELEMENTS },
        Kernel::Gelu { .. } => Kernel::Gelu { elements: ELEMENTS },
        other => other,
    };
    let every = match kernel {
        Kernel::FlashAttention { queries, causal: true, .. } => (queries / FEW).max(1),
        _ => 1,
    };
    Trial { every, ..Trial::new(kernel, 1) }
}

/// Percent of the published error that the simulated one may be off.
fn percent(kernel: &Kernel) -> Option<f64> {
    Some(match kernel {
        Kernel::Gemm { .. } => 5.0,
        Kernel::Add { .. } | Kernel::Rope { .. } => 10.0,
        Kernel::RmsNorm { .. } | Kernel::LayerNorm { .. } | Kernel::FlashAttention { .. } => 20.0,
        Kernel::SiluMul { .. } | Kernel::Gelu { .. } => 25.0,
        _ => return None,
    })
}

#[test]
fn every_published_error_is_met_on_both_sides() {
    let Some(path) = need::shared("npu/calibration.csv") else { return };
    let text = fs::read_to_string(path).unwrap();
    let (header, lines) = text.split_once('\n').unwrap();
    let rows: Vec<(Row, f64)> = lines.lines().filter_map(|line| published(header, line)).collect();
    assert!(rows.len() > 150, "{} rows carry an error", rows.len());
    let mut known: BTreeMap<String, f64> = BTreeMap::new();
    let (mut wrong, mut classes) = (Vec::new(), BTreeMap::new());
    for (row, published) in &rows {
        let trial = reduced(row);
        let name = format!("{:?} {}", trial.kernel, trial.every);
        let started = Instant::now();
        let got = *known.entry(name.clone()).or_insert_with(|| {
            let statistics = trial.run().unwrap();
            assert_eq!(statistics.comparison.non_finite, 0, "{name}");
            statistics.comparison.mean_rel_l1
        });
        let (fits, off) = match percent(&trial.kernel) {
            Some(percent) => {
                let off = 100.0 * (got / published - 1.0);
                (off.abs() <= percent, off)
            }
            // A GEMV rounds once, as its reference does: what is left is the order of a sum.
            None => (got <= 1e-6, 0.0),
        };
        if started.elapsed().as_millis() > 0 {
            eprintln!(
                "{name}: {got:.3e}, published {published:.2e}, {off:+.1} %, {:?}",
                started.elapsed()
            );
        }
        let class: &mut [f64; 2] = classes.entry(trial.kernel.name()).or_insert([0.0; 2]);
        *class = [class[0].min(off), class[1].max(off)];
        if !fits {
            wrong.push(format!("{}: {name}: {got:.3e}, published {published:.3e}", row.id));
        }
    }
    eprintln!("{} rows, {} kernels; percent off: {classes:.1?}", rows.len(), known.len());
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
