//! `npu numerics`: how far one kernel of the simulator is from FP32, beside the published error.

use clap::Args;
use serde_json::{Value, json};

use super::error::Problem;
use super::output;
use crate::base::{nearest, plural};
use crate::npu::{Band, Form, Kernel, Method, Statistics, Trial};

/// Error statistics of one kernel against FP32, on the published harness's inputs
#[derive(Args)]
#[command(
    after_help = "Inputs: operands of products N(0, 1)/sqrt(K), others N(0, 1), rounded to bf16.\n\
    The reference is computed in f64 and stored once in the type of the result.\n\n\
    Examples:\n  pilotfish npu numerics gemm --shape 512,2048,512 --method drain\n  \
    pilotfish npu numerics flash-attention --shape 512,512,64,2,2 --full --json"
)]
pub(super) struct Numerics {
    /// A kernel, as program files name it
    kernel: String,
    /// Its sizes, such as `m,k,n` of `gemm`, `rows,width` of `rms-norm`, `elements` of `add`
    #[arg(long, value_name = "SIZES", allow_hyphen_values = true)]
    shape: Option<String>,
    /// How a GEMM makes its result: ext, drain, fused-cast or direct
    #[arg(long)]
    method: Option<String>,
    /// Every query of attention sees every key; without it attention is causal
    #[arg(long)]
    full: bool,
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[arg(long)]
    json: bool,
}

/// As `calibration.csv` has them, and the longer name of program files.
const METHODS: &[(&str, Method)] = &[
    ("ext", Method::External),
    ("drain", Method::Drain),
    ("fused-cast", Method::FusedCast),
    ("direct", Method::Direct),
    ("external", Method::External),
];

impl Numerics {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let form = form(&self.kernel)?;
        let kernel = self.parse(form)?;
        let statistics = Trial::new(kernel, self.seed).run().map_err(|error| {
            let finding = error.findings().into_iter().next();
            let hint = finding.and_then(|finding| finding.hint).unwrap_or_default();
            Problem::usage(error.to_string(), hint)
        })?;
        if self.json {
            output::json(&value(&kernel, self.seed, &statistics))?;
        } else {
            tell(&kernel, self.seed, &statistics);
        }
        Ok(0)
    }

    fn parse(&self, form: &'static Form) -> anyhow::Result<Kernel> {
        if self.method.is_some() && form.name != "gemm" {
            let what = format!("`--method` says how a GEMM ends, not `{}`", form.name);
            return Err(Problem::usage(what, "leave it away"));
        }
        if self.full && form.name != "flash-attention" {
            let what = format!("`--full` is about attention, not `{}`", form.name);
            return Err(Problem::usage(what, "leave it away"));
        }
        let method = self.method.as_deref().map_or(Ok(Method::FusedCast), method)?;
        let sizes = match &self.shape {
            Some(shape) => sizes(shape, form)?,
            None => form.published.to_vec(),
        };
        Kernel::of(form, &sizes, method, !self.full).ok_or_else(|| {
            let what = format!(
                "`--shape` has {}, `{}` takes {}: {}",
                plural(sizes.len(), "size"),
                form.name,
                form.sizes.len(),
                form.sizes.join(",")
            );
            Problem::usage(what, format!("a published one is {}", shown(form.published)))
        })
    }
}

/// The form that a person means, by any of its names.
fn form(name: &str) -> anyhow::Result<&'static Form> {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
    };
    let goes_by = |form: &&&'static Form| {
        std::iter::once(&form.name).chain(form.aliases).any(|known| plain(known) == plain(name))
    };
    if let Some(form) = Kernel::FORMS.iter().find(goes_by) {
        return Ok(form);
    }
    let names = Kernel::FORMS.map(|form| form.name);
    let hint = match nearest(&name.to_lowercase(), names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the kernels are {}", names.join(", ")),
    };
    Err(Problem::usage(format!("there is no kernel `{name}`"), hint))
}

fn sizes(shape: &str, form: &Form) -> anyhow::Result<Vec<usize>> {
    let size = |word: &str| {
        word.trim().parse::<usize>().map_err(|error| {
            let what = format!("`{word}` of `--shape {shape}` is no size: {error}");
            let hint = format!("sizes are whole numbers between commas: {}", form.sizes.join(","));
            Problem::usage(what, hint)
        })
    };
    shape.split([',', 'x', '×']).map(size).collect()
}

fn shown(sizes: &[usize]) -> String {
    sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn method(name: &str) -> anyhow::Result<Method> {
    if let Some((_, method)) = METHODS.iter().find(|(known, _)| *known == name) {
        return Ok(*method);
    }
    let names = METHODS.iter().map(|(name, _)| *name);
    let hint = match nearest(name, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the methods are {}", names.collect::<Vec<_>>().join(", ")),
    };
    Err(Problem::usage(format!("there is no method `{name}`"), hint))
}

fn method_name(kernel: &Kernel) -> Option<&'static str> {
    let Kernel::Gemm { method, .. } = kernel else { return None };
    METHODS.iter().find(|(_, known)| known == method).map(|(name, _)| *name)
}

fn value(kernel: &Kernel, seed: u64, statistics: &Statistics) -> Value {
    let compared = &statistics.comparison;
    let sizes = kernel.form().sizes.iter().zip(kernel.sizes());
    let shape: serde_json::Map<String, Value> =
        sizes.map(|(name, size)| ((*name).to_owned(), size.into())).collect();
    let causal = match kernel {
        Kernel::FlashAttention { causal, .. } => Some(causal),
        _ => None,
    };
    json!({
        "kernel": kernel.name(), "shape": shape, "method": method_name(kernel), "causal": causal,
        "seed": seed, "draws": statistics.draws, "elements": compared.count,
        "mean_rel_L1": compared.mean_rel_l1, "max_abs": compared.max_abs,
        "max_rel": compared.max_rel, "rms": compared.rmse, "cosine": compared.cosine,
        "non_finite": compared.non_finite, "rtol": statistics.rtol, "atol": statistics.atol,
        "outside": statistics.outside, "published_mean_rel_L1": statistics.published,
        "band": statistics.band, "inside": statistics.is_inside(),
        "surrogate": statistics.surrogate,
    })
}

fn tell(kernel: &Kernel, seed: u64, statistics: &Statistics) {
    let compared = &statistics.comparison;
    let form = kernel.form();
    let sizes = form.sizes.iter().zip(kernel.sizes()).map(|(name, size)| format!("{name} {size}"));
    let mut head = format!("{}: {}", form.name, sizes.collect::<Vec<_>>().join(", "));
    head.extend(method_name(kernel).map(|method| format!(", {method}")));
    if let Kernel::FlashAttention { causal, .. } = kernel {
        head.push_str(if *causal { ", causal" } else { ", full" });
    }
    output::say(&format!(
        "{head}; seed {seed}, {} elements in {}",
        compared.count,
        plural(statistics.draws, "draw")
    ));
    output::say(&format!("  mean_rel_L1  {:.3e}", compared.mean_rel_l1));
    output::say(&format!("  max abs      {:.3e}", compared.max_abs));
    output::say(&format!("  max rel      {:.3e}", compared.max_rel));
    output::say(&format!("  RMS          {:.3e}", compared.rmse));
    output::say(&format!("  cosine       {:.9}", compared.cosine));
    output::say(&format!(
        "  outside      {:.4} % of elements, by rtol {:.1e} and atol {:.1e}",
        100.0 * statistics.outside,
        statistics.rtol,
        statistics.atol
    ));
    if compared.non_finite > 0 {
        output::say(&format!("  not finite   {}", plural(compared.non_finite, "element")));
    }
    output::say(&published(form, statistics));
    if let Some(surrogate) = statistics.surrogate {
        output::say(&format!("  surrogate    {surrogate}"));
    }
}

fn published(form: &Form, statistics: &Statistics) -> String {
    let told = match statistics.published {
        Some(error) => format!("mean_rel_L1 {error:.2e}"),
        None => "nothing for sizes like these".to_owned(),
    };
    let band = match (form.band, statistics.band) {
        (Band::TwoSided(percent), Some([low, high])) => {
            format!(", band ±{percent} %: {low:.3e} to {high:.3e}")
        }
        (Band::AtMost(_), Some([_, high])) => format!(", at most {high:.0e}"),
        _ => String::new(),
    };
    let inside = match statistics.is_inside() {
        Some(true) => ", inside",
        Some(false) => ", outside",
        None => "",
    };
    format!("  published    {told}{band}{inside}")
}
