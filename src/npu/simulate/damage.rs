//! What the device silently gets wrong when a launch breaks a rule that nothing checks there.
//!
//! Only programs that run unchecked come here. Which elements are wrong on silicon is not
//! published; what is here is the plainest fault that the rule's words describe.

use std::collections::BTreeMap;

use crate::base::Finding;
use crate::npu::check::{check, corrupts_alone, place};
use crate::npu::{Array, Kernel, Launch, Method, Program, Work};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// Elements from here on are never written.
    Elements(usize),
    /// Columns from here on are never written.
    Columns(usize),
    /// Only so much of the depth is added up.
    Depth(usize),
    /// From the second call on, elements from here on stay what the call before has left.
    Later(usize),
    /// The call succeeds and leaves zeros.
    Zeros,
    Nan,
}

impl Damage {
    /// What is left of the damage in a call, counted from 0.
    pub(super) fn at(self, call: usize) -> Option<Self> {
        match self {
            Self::Later(_) if call == 0 => None,
            Self::Later(end) => Some(Self::Elements(end)),
            other => Some(other),
        }
    }
}

/// By dispatch and launch.
pub(super) fn damages(program: &Program, array: &Array) -> BTreeMap<(usize, usize), Damage> {
    let mut damages = BTreeMap::new();
    let findings = check(program, array);
    if !findings.iter().any(Finding::is_error) {
        return damages;
    }
    for (index, dispatch) in program.dispatches.iter().enumerate() {
        let Work::Launches(launches) = &dispatch.work else { continue };
        let whole = place(program, dispatch, None);
        for (number, launch) in launches.iter().enumerate() {
            let own = place(program, dispatch, Some((number, launch)));
            let here = findings.iter().filter(|finding| finding.is_error() && finding.place == own);
            let mut rules: Vec<&str> = here.map(|finding| finding.rule.as_str()).collect();
            // What is known to corrupt corrupts as is known, whatever else is wrong.
            rules.sort_by_key(|rule| !rule.ends_with("-deny"));
            // Rules of a dispatch do not say which launch they mean: this one says it by number.
            let late = findings.iter().any(|finding| {
                finding.rule == "down-first"
                    && finding.place == whole
                    && finding.message.contains(&format!("launch {} ", number + 1))
            });
            let damage = if late {
                Some(Damage::Nan)
            } else if lacks_scratch(launch) {
                Some(Damage::Zeros)
            } else {
                rules.iter().find_map(|rule| of(rule, launch)).or_else(|| alone(launches))
            };
            if let Some(damage) = damage {
                damages.insert((index, number), damage);
            }
        }
    }
    damages
}

/// A fused cast without its f32 scratch argument.
fn lacks_scratch(launch: &Launch) -> bool {
    let fused = matches!(launch.kernel, Kernel::Gemm { method: Method::FusedCast, .. });
    fused && launch.outputs.len() < 2
}

/// A lone drain of four rounds of rows: the last of them is not drained again.
fn alone(launches: &[Launch]) -> Option<Damage> {
    let [launch] = launches else { return None };
    let Kernel::Gemm { m, n, .. } = launch.kernel else { return None };
    corrupts_alone(launch).then(|| Damage::Later((m / 4 * 3).saturating_mul(n)))
}

/// A depth that leaves out most of what is to be added up: measured errors of such tilings are 0.7
/// to 1.0 of the magnitude, and that is what is missing when less than half is there.
fn shallow(k: usize, k_l2: usize, k_l1: usize) -> Damage {
    let step = k_l1.max(1);
    Damage::Depth((k_l2.min(k / 5 * 2) / step * step).max(step))
}

fn of(rule: &str, launch: &Launch) -> Option<Damage> {
    let (tile, [cols, rows]) = (launch.tile, launch.herd);
    let whole = |all: usize, step: usize| all / step.max(1) * step.max(1);
    Some(match (rule, launch.kernel) {
        ("bare-herd", _) => Damage::Zeros,
        ("gemm-m", Kernel::Gemm { m, n, .. }) => {
            Damage::Elements(whole(m, tile.m.saturating_mul(cols)).saturating_mul(n))
        }
        ("gemm-n", Kernel::Gemm { n, .. }) => {
            Damage::Columns(whole(n, tile.n.saturating_mul(rows)))
        }
        ("gemm-k", Kernel::Gemm { k, .. }) => {
            Damage::Depth((k / tile.k_l2.max(1)).saturating_mul(whole(tile.k_l2, tile.k_l1)))
        }
        ("gemm-deny" | "gemm-rows", Kernel::Gemm { k, .. }) => shallow(k, tile.k_l2, tile.k_l1),
        ("gemv-divides", Kernel::Gemv { n, .. }) => {
            Damage::Elements(whole(n, tile.m.saturating_mul(cols).saturating_mul(rows)))
        }
        ("row-divides", kernel) => {
            let (Kernel::RmsNorm { rows: count, width }
            | Kernel::LayerNorm { rows: count, width }
            | Kernel::Rope { rows: count, width }
            | Kernel::BiasAdd { rows: count, width }) = kernel
            else {
                return None;
            };
            Damage::Elements(whole(count, cols.saturating_mul(rows)).saturating_mul(width))
        }
        ("vector-divides" | "vector-deny", kernel) => {
            let all = kernel.operands().outputs[0].elements;
            let step = tile.n.saturating_mul(cols).saturating_mul(rows);
            let done = whole(all, step);
            Damage::Elements(if done == all { all.saturating_sub(step) } else { done })
        }
        _ => return None,
    })
}
