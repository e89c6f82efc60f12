//! What the device silently gets wrong when a launch breaks a rule that nothing checks there.
//!
//! Only programs that run unchecked come here. Which elements are wrong on silicon is not
//! published; what is here is the plainest fault that the rule's words describe.

use std::collections::BTreeMap;

use crate::npu::check::{check, place};
use crate::npu::{Array, Kernel, Launch, Program, Work};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// Elements from here on are never written.
    Elements(usize),
    /// Columns from here on are never written.
    Columns(usize),
    /// Only so much of the depth is added up.
    Depth(usize),
    Nan,
}

/// By dispatch and launch.
pub(super) fn damages(program: &Program, array: &Array) -> BTreeMap<(usize, usize), Damage> {
    let mut damages = BTreeMap::new();
    let findings = check(program, array);
    if !findings.iter().any(crate::base::Finding::is_error) {
        return damages;
    }
    for (index, dispatch) in program.dispatches.iter().enumerate() {
        let Work::Launches(launches) = &dispatch.work else { continue };
        let whole = place(program, dispatch, None);
        for (number, launch) in launches.iter().enumerate() {
            let own = place(program, dispatch, Some((number, launch)));
            let here = findings.iter().filter(|finding| finding.is_error() && finding.place == own);
            let mut rules = here.map(|finding| finding.rule.as_str());
            // Rules of a dispatch do not say which launch they mean: this one says it by number.
            let late = findings.iter().any(|finding| {
                finding.rule == "down-first"
                    && finding.place == whole
                    && finding.message.contains(&format!("launch {} ", number + 1))
            });
            let damage =
                if late { Some(Damage::Nan) } else { rules.find_map(|rule| of(rule, launch)) };
            if let Some(damage) = damage {
                damages.insert((index, number), damage);
            }
        }
    }
    damages
}

fn of(rule: &str, launch: &Launch) -> Option<Damage> {
    let (tile, [cols, rows]) = (launch.tile, launch.herd);
    let whole = |all: usize, step: usize| all / step.max(1) * step.max(1);
    Some(match (rule, launch.kernel) {
        ("gemm-m", Kernel::Gemm { m, n, .. }) => Damage::Elements(whole(m, tile.m * cols) * n),
        ("gemm-n", Kernel::Gemm { n, .. }) => Damage::Columns(whole(n, tile.n * rows)),
        ("gemm-k", Kernel::Gemm { k, .. }) => Damage::Depth(whole(k, tile.k_l2)),
        ("gemm-deny", Kernel::Gemm { k, .. }) => Damage::Depth(k.saturating_sub(tile.k_l2)),
        ("gemv-divides", Kernel::Gemv { n, .. }) => {
            Damage::Elements(whole(n, tile.m * cols * rows))
        }
        ("row-divides", kernel) => {
            let (Kernel::RmsNorm { rows: count, width }
            | Kernel::LayerNorm { rows: count, width }
            | Kernel::Rope { rows: count, width }
            | Kernel::BiasAdd { rows: count, width }) = kernel
            else {
                return None;
            };
            Damage::Elements(whole(count, cols * rows) * width)
        }
        ("vector-divides" | "vector-deny", kernel) => {
            let all = kernel.operands().outputs[0].elements;
            let step = tile.n * cols * rows;
            let done = whole(all, step);
            Damage::Elements(if done == all { all.saturating_sub(step) } else { done })
        }
        _ => return None,
    })
}
