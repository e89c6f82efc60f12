//! `npu calibrate`: the coefficients of the cost model, fitted to a person's own measurements.

use std::fs::remove_dir;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::error::Problem;
use super::npu_cost::table;
use super::output;
use crate::base::file;
use crate::npu::calibrate::{Score, Summary, calibrate, write};
use crate::npu::{Array, read_rows};

/// Fit the cost model to measured kernel rows
#[derive(Args)]
pub(super) struct Calibrate {
    /// A CSV with the columns of `calibration.csv`: rows of regime `solo` or `insitu` are used
    rows: PathBuf,
    /// Where the coefficients are written, for `--coefficients` of other commands
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[arg(long)]
    json: bool,
}

impl Calibrate {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let text = table(&self.rows)?;
        let place = self.rows.display();
        let made = calibrate(&read_rows(&text), &Array::xdna2()).map_err(|refused| {
            let what = format!(
                "`{place}` has {} rows to fit {} coefficients",
                refused.rows, refused.parameters
            );
            let hint = "measure more kernels: rows of regime `solo` or `insitu`, with an empty \
                        `exclude` and a `latency_us`";
            Problem::usage(what, hint)
        })?;
        let summary = &made.summary;
        let name = self.rows.file_name().unwrap_or_default().to_string_lossy();
        let comments = [
            format!("Coefficients of the cost model, fitted to {name}."),
            line("rows", &summary.fitted),
            line("rows whose shape the fit had not seen", &summary.five_fold),
        ];
        let written = write(&made.array, &comments);
        let staging = self.out.with_extension("new");
        file::replace(&self.out, written.as_bytes(), &staging, "tool-write")?;
        let _ = remove_dir(staging);
        if self.json {
            output::json(&json!({
                "out": self.out, "summary": summary, "classes": made.array.classes,
            }))?;
            return Ok(0);
        }
        tell(summary);
        output::say(&format!("written to {}", self.out.display()));
        Ok(0)
    }
}

fn line(what: &str, score: &Score) -> String {
    format!(
        "{} {what}: mean error {:.2} %, median {:.2}, 90 of 100 below {:.2}, at most {:.2}.",
        score.rows, score.mean, score.median, score.p90, score.max
    )
}

fn tell(summary: &Summary) {
    output::say(&line("rows", &summary.fitted));
    output::say(&line("rows whose shape the fit had not seen", &summary.five_fold));
    for (class, score) in &summary.by_class {
        output::say(&format!(
            "  {class:<18} {:>4} rows, mean error {:>5.2} %, at most {:>5.2}",
            score.rows, score.mean, score.max
        ));
    }
    output::say(&format!(
        "{:.1} % of {} pairs of tilings in their measured order; {:.1} % of held-out rows within \
         their 80 % interval",
        summary.order_pct, summary.pairs, summary.covered_pct
    ));
    if !summary.untouched.is_empty() {
        output::say(&format!("no row depends on {}: kept", summary.untouched.join(", ")));
    }
    let excluded = |why: &str| why == "its `exclude` is not empty";
    let marked = summary.left_out.iter().filter(|(_, why)| excluded(why)).count();
    if marked > 0 {
        output::say(&format!("{marked} rows left out: marked in `exclude`"));
    }
    for (id, why) in summary.left_out.iter().filter(|(_, why)| !excluded(why)) {
        output::say(&format!("row {id} left out: {why}"));
    }
}
