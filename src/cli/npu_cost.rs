//! `npu cost`: predicted time of programs, or of rows of single kernels.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::error::Problem;
use super::npu_program::{program, program_files};
use super::output;
use crate::model::Stage;
use crate::npu::{Array, CALIBRATION_ERROR_PCT, Profile, Row, cost, predict, read_rows, refusal};

/// Predicted time of programs, or of kernel rows in a CSV table
#[derive(Args)]
pub(super) struct Cost {
    /// A program file, a workspace, or a CSV with the columns of `calibration.csv`
    path: PathBuf,
    /// Tokens that a decode call attends to
    #[arg(long, value_name = "N", default_value_t = 64)]
    context: usize,
    #[arg(long)]
    json: bool,
}

impl Cost {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        if self.path.extension().is_some_and(|kind| kind == "csv") {
            return rows(&self.path, self.json);
        }
        let array = Array::xdna2();
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

/// One object a row, in the order of the table.
fn rows(path: &Path, as_json: bool) -> anyhow::Result<u8> {
    let text = fs::read_to_string(path).map_err(|error| {
        let what = format!("cannot read `{}`: {error}", path.display());
        Problem::usage(what, "name a CSV table with the columns of `calibration.csv`")
    })?;
    let (header, lines) = text.split_once('\n').unwrap_or((text.as_str(), ""));
    if !header.split(',').any(|cell| cell.trim() == "kernel") {
        let what = format!("`{}` has no column `kernel`", path.display());
        return Err(Problem::usage(
            what,
            "the first line names the columns, as in `calibration.csv`",
        ));
    }
    let array = Array::xdna2();
    let priced = lines.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        let row = read_rows(&format!("{header}\n{line}")).into_iter().next();
        price(row, line, &array)
    });
    let priced: Vec<Value> = priced.collect();
    if as_json {
        output::json(&priced)?;
        return Ok(0);
    }
    for row in &priced {
        let id = row["id"].as_str().unwrap_or_default();
        match row["predicted_us"].as_f64() {
            Some(us) => output::say(&format!("{id}  {us:.2} us")),
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
    match refusal(&row.launch, array) {
        Some(finding) => {
            json!({ "id": row.id, "refused": format!("{}: {}", finding.rule, finding.message) })
        }
        None => json!({ "id": row.id, "predicted_us": predict(&row, array) }),
    }
}
