//! The fit of the cost model on the published rows, and its command.

use std::fs;
use std::path::Path;

use pilotfish::npu::calibrate::{calibrate, write_classes};
use pilotfish::npu::{Array, Row, predict, read_rows, refusal};

use crate::need::shared;

fn rows() -> Option<Vec<Row>> {
    Some(read_rows(&fs::read_to_string(shared("npu/calibration.csv")?).unwrap()))
}

/// `UPDATE=1` writes the built-in classes anew.
#[test]
fn the_published_rows_are_reproduced() {
    let Some(rows) = rows() else { return };
    let made = calibrate(&rows, &Array::xdna2()).expect("enough rows");
    let summary = &made.summary;
    eprintln!("{summary:#?}");
    assert_eq!(summary.fitted.rows, 195);
    let fitted = &summary.fitted;
    assert!(fitted.mean <= 6.0 && fitted.p90 <= 14.0 && fitted.max <= 35.0, "{fitted:?}");
    assert!(summary.five_fold.mean <= 7.5, "{:?}", summary.five_fold);
    assert!(summary.order_pct >= 90.0, "{} % of {}", summary.order_pct, summary.pairs);
    assert!((75.0..=90.0).contains(&summary.covered_pct), "{} % covered", summary.covered_pct);
    assert!(summary.untouched.is_empty(), "{:?}", summary.untouched);

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/npu/classes.toml");
    let text = format!(
        "# How sure predictions are, by class of kernel: see `class.rs`. Measured by\n\
         # `UPDATE=1 cargo test --test suite calibrate`.\n{}",
        write_classes(&made.array.classes)
    );
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "UPDATE=1 writes it anew");
}

/// What was measured on the device ran there.
#[test]
fn no_measured_row_is_refused() {
    let Some(rows) = rows() else { return };
    for row in rows.iter().filter(|row| row.exclude.is_empty()) {
        let refused = refusal(&row.launch, &Array::xdna2());
        assert!(refused.is_none() && row.flaw.is_none(), "{}: {refused:?}", row.id);
    }
    let odd = read_rows("id,kernel,regime,M,N\na,RoPE,solo,-5,64\n");
    assert_eq!(odd[0].flaw.as_deref(), Some("`M` is `-5`"));
}

/// The built-in coefficients are a minimum: a fit from elsewhere ends no better and no worse.
#[test]
fn a_fit_from_elsewhere_ends_at_the_same_error() {
    let Some(rows) = rows() else { return };
    let mut start = Array::xdna2();
    let c = &mut start.coefficients;
    for value in [&mut c.dispatch_us, &mut c.gemm_call, &mut c.gemm_block, &mut c.add, &mut c.rope]
    {
        *value *= 1.3;
    }
    start.bandwidth.gemm_read *= 1.3;
    let here = calibrate(&rows, &Array::xdna2()).unwrap().summary.fitted.mean;
    let there = calibrate(&rows, &start).unwrap().summary.fitted.mean;
    assert!((here - there).abs() < 0.2, "{here} and {there}");
}

#[test]
fn coefficients_that_made_the_rows_are_found_again() {
    let Some(mut rows) = rows() else { return };
    let mut made_by = Array::xdna2();
    made_by.coefficients.gemm_call *= 1.2;
    made_by.coefficients.gelu *= 0.8;
    made_by.coefficients.dispatch_us *= 1.1;
    rows.retain(|row| row.exclude.is_empty() && row.measured_us.is_some());
    for row in &mut rows {
        row.measured_us = Some(predict(row, &made_by));
    }
    let found = calibrate(&rows, &Array::xdna2()).unwrap().array;
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.02, "{a} for {b}");
    close(found.coefficients.gemm_call, made_by.coefficients.gemm_call);
    close(found.coefficients.gelu, made_by.coefficients.gelu);
    close(found.coefficients.dispatch_us, made_by.coefficients.dispatch_us);
}

#[test]
fn too_few_rows_are_refused_and_odd_ones_left_out() {
    let Some(mut rows) = rows() else { return };
    let refused = calibrate(&rows[..20], &Array::xdna2()).unwrap_err();
    assert!(refused.rows <= 20 && refused.parameters > 20, "{refused:?}");
    for (row, us) in rows.iter_mut().zip([f64::NAN, -1.0, 0.0, f64::INFINITY]) {
        row.exclude.clear();
        row.measured_us = Some(us);
    }
    let summary = calibrate(&rows, &Array::xdna2()).unwrap().summary;
    let odd = summary.left_out.iter().filter(|(_, why)| why.contains("no positive number"));
    assert_eq!(odd.count(), 4);
}
