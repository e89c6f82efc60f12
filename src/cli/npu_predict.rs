//! `npu predict`: time to the first token and per token of a network, before anything is built.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::error::Problem;
use super::exit;
use super::npu_cost::array;
use super::npu_program::program;
use super::output;
use super::shape::shape;
use crate::base::Finding;
use crate::model::Stage;
use crate::npu::{
    Array, CALIBRATION_ERROR_PCT, Estimate, Floor, Outline, Profile, Program, check, cost,
    estimate, floor, structured,
};

/// Predicted time of a network under its published program, or under yours
#[derive(Args)]
pub(super) struct Predict {
    /// A published or bundled name, a `config.json`, a folder or a file
    model: String,
    /// Prompt tokens of prefill
    #[arg(long, value_name = "N", default_value_t = 2048)]
    seq: usize,
    /// Tokens that a decode call attends to
    #[arg(long, value_name = "N", default_value_t = 64)]
    context: usize,
    /// Layers, where fewer than all
    #[arg(long, value_name = "N")]
    layers: Option<usize>,
    /// A folder with `prefill.toml` or `decode.toml` or both, instead of the published program
    #[arg(long, value_name = "DIR")]
    program: Option<PathBuf>,
    /// Coefficients that `npu calibrate` wrote, instead of those built in
    #[arg(long, value_name = "FILE")]
    coefficients: Option<PathBuf>,
    #[arg(long)]
    json: bool,
}

/// The most tokens for which a program is worth building: past any context that is trained.
const MOST_TOKENS: usize = 1 << 24;

impl Predict {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        for (flag, tokens) in [("--seq", self.seq), ("--context", self.context)] {
            if tokens == 0 || tokens > MOST_TOKENS {
                let what = format!("`{flag} {tokens}` is no number of tokens");
                return Err(Problem::usage(what, format!("give 1 to {MOST_TOKENS}")));
            }
        }
        let (mut outline, array) = (shape(&self.model)?, array(self.coefficients.as_deref())?);
        if let Some(layers) = self.layers {
            outline.layers = layers.clamp(1, outline.layers);
        }
        let programs = match &self.program {
            Some(folder) => of_folder(folder, &outline)?,
            None => self.published(&outline, &array)?,
        };
        let mut illegal = Vec::new();
        for program in &programs {
            illegal.extend(check(program, &array).into_iter().filter(Finding::is_error));
        }
        for finding in &illegal {
            output::complain(&finding.to_string());
        }
        if !illegal.is_empty() {
            return Ok(exit::FAILED);
        }
        let timed = |program: &Program| {
            let tokens = if program.stage == Stage::Prefill { program.seq } else { self.context };
            Timed {
                profile: cost(program, &array, self.context),
                estimate: estimate(program, &array, self.context),
                least: floor(&outline, &array, program.stage, tokens),
            }
        };
        let stages: Vec<Timed> = programs.iter().map(timed).collect();
        if self.json {
            return self.as_json(&outline, &stages);
        }
        let from = match &self.program {
            Some(folder) => format!("programs of {}", folder.display()),
            None => "published structure".to_owned(),
        };
        output::say(&format!("{} · {from}", outline.name));
        stages.iter().for_each(tell);
        output::say(&format!(
            "\npredicted on a model of the device, mean error over published kernels \
             {CALIBRATION_ERROR_PCT} %"
        ));
        Ok(0)
    }

    fn published(&self, outline: &Outline, array: &Array) -> anyhow::Result<Vec<Program>> {
        let capacity = self.seq.max(self.context);
        let built = Stage::ALL.map(|stage| structured(outline, array, stage, self.seq, capacity));
        let built: Result<Vec<Program>, Finding> = built.into_iter().collect();
        built.map_err(|finding| {
            let what = format!("no published program fits this network: {finding}");
            Problem::usage(what, "pass programs of your own with `--program`")
        })
    }

    fn as_json(&self, outline: &Outline, stages: &[Timed]) -> anyhow::Result<u8> {
        let of = |wanted: Stage| stages.iter().find(|timed| timed.profile.stage == wanted);
        let ms = |stage: Stage| of(stage).map(|timed| timed.estimate.us / 1e3);
        let interval = |stage: Stage| {
            of(stage).map(|Timed { estimate, .. }| [estimate.low_us / 1e3, estimate.high_us / 1e3])
        };
        let floor_ms = |stage: Stage| of(stage).map(|timed| timed.least.total_us() / 1e3);
        let calls = |stage: Stage| of(stage).map(|timed| timed.profile.dispatches_per_layer);
        let profile = |stage: Stage| of(stage).map(|timed| &timed.profile);
        let extrapolated = stages.iter().any(|timed| timed.estimate.extrapolated);
        output::json(&json!({
            "model": outline.name,
            "seq": self.seq,
            "context": self.context,
            "ttft_ms": ms(Stage::Prefill),
            "ttft_interval_ms": interval(Stage::Prefill),
            "tpot_ms": ms(Stage::Decode),
            "tpot_interval_ms": interval(Stage::Decode),
            "extrapolated": extrapolated,
            "tokens_per_s": ms(Stage::Decode).map(|ms| 1e3 / ms),
            "floor_ttft_ms": floor_ms(Stage::Prefill),
            "floor_tpot_ms": floor_ms(Stage::Decode),
            "dispatches_per_layer": {
                "prefill": calls(Stage::Prefill), "decode": calls(Stage::Decode),
            },
            "calibration_error_pct": CALIBRATION_ERROR_PCT,
            "prefill": profile(Stage::Prefill),
            "decode": profile(Stage::Decode),
        }))?;
        Ok(0)
    }
}

/// The programs of a folder: those of a workspace, or files that lie in it.
fn of_folder(folder: &Path, outline: &Outline) -> anyhow::Result<Vec<Program>> {
    let inner = folder.join("program");
    let place = if inner.is_dir() { inner.as_path() } else { folder };
    let files: Vec<PathBuf> = Stage::ALL
        .map(|stage| place.join(format!("{stage}.toml")))
        .into_iter()
        .filter(|file| file.exists())
        .collect();
    if files.is_empty() {
        let what = format!("`{}` has neither `prefill.toml` nor `decode.toml`", folder.display());
        return Err(Problem::usage(what, "name a workspace, or a folder with program files"));
    }
    let programs: anyhow::Result<Vec<Program>> = files.iter().map(|file| program(file)).collect();
    let programs = programs?;
    if let Some(other) = programs.iter().find(|program| program.head_dim != outline.head_dim) {
        let what = format!(
            "`{}` is a program of `{}`, not of `{}`: heads of {} and of {}",
            folder.display(),
            other.model,
            outline.name,
            other.head_dim,
            outline.head_dim
        );
        return Err(Problem::usage(what, "name the network that the programs were made for"));
    }
    Ok(programs)
}

/// A stage, how sure its time is, and what nothing can go below.
struct Timed {
    profile: Profile,
    estimate: Estimate,
    least: Floor,
}

fn tell(timed: &Timed) {
    let Timed { profile, estimate, least } = timed;
    let ms = estimate.us / 1e3;
    let what = match profile.stage {
        Stage::Prefill => format!("TTFT {ms:.2} ms for {} tokens", profile.seq),
        Stage::Decode => {
            format!("TPOT {ms:.2} ms at a context of {}: {:.2} tokens/s", profile.context, 1e3 / ms)
        }
    };
    output::say(&format!(
        "\n{what}\n80 of 100 between {:.2} and {:.2} ms{}; floor {:.2} ms, {} dispatches a layer\n\
         {}\n",
        estimate.low_us / 1e3,
        estimate.high_us / 1e3,
        if estimate.extrapolated { ", extrapolated: not all sizes were measured" } else { "" },
        least.total_us() / 1e3,
        profile.dispatches_per_layer,
        profile.cost,
    ));
    output::say("  dispatch                       each us       npu      host    upload  times");
    for step in &profile.steps {
        let npu = step.cost.dispatch + step.cost.tile;
        let times = profile.times(step.scope);
        output::say(&format!(
            "  {:<26} {:>11.1} {npu:>9.1} {:>9.1} {:>9.1} {times:>6}",
            step.name,
            step.cost.total(),
            step.cost.host,
            step.cost.upload,
        ));
    }
    output::say("\n  kernel             on       calls         ms   share   GFLOP/s     GB/s");
    for kernel in &profile.kernels {
        output::say(&format!(
            "  {:<18} {:<6} {:>7} {:>10.3} {:>6.1}% {:>9.1} {:>8.1}",
            kernel.kernel,
            if kernel.on_array { "array" } else { "host" },
            kernel.calls,
            kernel.total_us() / 1e3,
            100.0 * kernel.total_us() / profile.total_us(),
            kernel.gflops(),
            kernel.gigabytes_per_s(),
        ));
    }
}
