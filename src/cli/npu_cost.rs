//! `npu cost`: predicted time of programs, or of rows of single kernels.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::error::Problem;
use super::npu_program::{program, program_files};
use super::output;
use crate::model::Stage;
use crate::npu::calibrate::read;
use crate::npu::{
    Array, CALIBRATION_ERROR_PCT, Profile, Row, cost, estimate_row, read_rows, refusal,
};

/// Predicted time of programs, or of kernel rows in a CSV table
#[derive(Args)]
pub(super) struct Cost {
    /// A program file, a workspace, or a CSV with the columns of `calibration.csv`
    path: PathBuf,
    /// Tokens that a decode call attends to
    #[arg(long, value_name = "N", default_value_t = 64)]
    context: usize,
    /// Coefficients that `npu calibrate` wrote, instead of those built in
    #[arg(long, value_name = "FILE")]
    coefficients: Option<PathBuf>,
    #[arg(long)]
    json: bool,
}

impl Cost {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let array = array(self.coefficients.as_deref())?;
        if self.path.extension().is_some_and(|kind| kind == "csv") {
            return rows(&self.path, &array, self.json);
        }
        let mut profiles = Vec::new();
        for path in program_files(&self.path) {
            let program = program(&path)?;
            let context = if program.stage == Stage::Decode { self.context } else { program.seq };
            profiles.push(cost(&program, &array, context));
        }
        if self.json {
            output::json(&profiles)?;
            return Ok(0);
        }
        profiles.iter().for_each(tell);
        output::say(&format!(
            "predicted on a model of the device, mean error {CALIBRATION_ERROR_PCT} %"
        ));
        Ok(0)
    }
}

fn tell(profile: &Profile) {
    let parts = profile.cost.categories();
    let parts = parts.iter().map(|(name, us)| format!("{name} {:.3}", us / 1e3));
    output::say(&format!(
        "{}: {:.3} ms ({}), {} dispatches a layer",
        profile.stage,
        profile.total_us() / 1e3,
        parts.collect::<Vec<_>>().join(", "),
        profile.dispatches_per_layer,
    ));
    for kernel in profile.kernels.iter().take(12) {
        let place = if kernel.on_array { "array" } else { "host" };
        output::say(&format!(
            "  {:<18} {place:<6} {:>6} calls {:>10.3} ms {:>8.1} GFLOP/s {:>7.1} GB/s",
            kernel.kernel,
            kernel.calls,
            kernel.total_us() / 1e3,
            kernel.gflops(),
            kernel.gigabytes_per_s(),
        ));
    }
}

/// The text of a table of kernels, once its first line names them.
pub(super) fn table(path: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(path).map_err(|error| {
        let what = format!("cannot read `{}`: {error}", path.display());
        Problem::usage(what, "name a CSV table with the columns of `calibration.csv`")
    })?;
    let header = text.lines().next().unwrap_or_default();
    if !header.split(',').any(|cell| cell.trim() == "kernel") {
        let what = format!("`{}` has no column `kernel`", path.display());
        let hint = "the first line names the columns, as in `calibration.csv`";
        return Err(Problem::usage(what, hint));
    }
    Ok(text)
}

/// The array with the coefficients of a file, or with its own.
pub(super) fn array(coefficients: Option<&Path>) -> anyhow::Result<Array> {
    let Some(path) = coefficients else { return Ok(Array::xdna2()) };
    let text = fs::read_to_string(path).map_err(|error| {
        let what = format!("cannot read `{}`: {error}", path.display());
        Problem::usage(what, "name a file that `pilotfish npu calibrate` wrote")
    })?;
    read(&path.display().to_string(), &text, &Array::xdna2()).map_err(|findings| {
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        Problem::usage(told.join("\n"), "")
    })
}

/// One object a row, in the order of the table.
fn rows(path: &Path, array: &Array, as_json: bool) -> anyhow::Result<u8> {
    let text = table(path)?;
    let (header, lines) = text.split_once('\n').unwrap_or((text.as_str(), ""));
    let priced = lines.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        let row = read_rows(&format!("{header}\n{line}")).into_iter().next();
        price(row, line, array)
    });
    let priced: Vec<Value> = priced.collect();
    if as_json {
        output::json(&priced)?;
        return Ok(0);
    }
    for row in &priced {
        let id = row["id"].as_str().unwrap_or_default();
        match row["predicted_us"].as_f64() {
            Some(us) => {
                let of = |key: &str| row[key].as_f64().unwrap_or_default();
                let mark = if row["extrapolated"] == true { "  extrapolated" } else { "" };
                let (low, high) = (of("low_us"), of("high_us"));
                output::say(&format!("{id}  {us:.2} us  ({low:.2} to {high:.2}){mark}"));
            }
            None => output::say(&format!(
                "{id}  refused: {}",
                row["refused"].as_str().unwrap_or_default()
            )),
        }
    }
    Ok(0)
}

fn price(row: Option<Row>, line: &str, array: &Array) -> Value {
    let Some(row) = row else {
        let id = line.split(',').next().unwrap_or_default();
        return json!({ "id": id, "refused": "row: it is no single kernel that is known" });
    };
    if let Some(flaw) = row.flaw {
        return json!({ "id": row.id, "refused": format!("row: {flaw}, which is no size") });
    }
    if let Some(finding) = refusal(&row.launch, array) {
        let why = format!("{}: {}", finding.rule, finding.message);
        return json!({ "id": row.id, "refused": why });
    }
    let estimate = estimate_row(&row, array);
    json!({
        "id": row.id, "predicted_us": estimate.us, "low_us": estimate.low_us,
        "high_us": estimate.high_us, "extrapolated": estimate.extrapolated,
    })
}
