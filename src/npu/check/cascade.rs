//! O and FFN of decode as one cascade: more than the array has rows for, unless small and even.

use crate::base::Finding;
use crate::model::Stage;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Kernel, Launch, Program};

/// Rule R. A program's launches pass values through DDR, for which there is no such limit; the
/// published kernel that fuses them through the cascade has one, so this warns who would take it.
pub(super) fn find(
    _: &Dispatch,
    launches: &[Launch],
    program: &Program,
    _: &Array,
) -> Vec<Finding> {
    let silu = launches.iter().position(|l| matches!(l.kernel, Kernel::SiluMul { .. }));
    let (Stage::Decode, Some(silu)) = (program.stage, silu) else { return Vec::new() };
    let gemvs: Vec<[usize; 2]> = launches
        .iter()
        .filter_map(|launch| match launch.kernel {
            Kernel::Gemv { k, n } => Some([k, n]),
            _ => None,
        })
        .collect();
    let down = launches[silu..].iter().find_map(|launch| match launch.kernel {
        Kernel::Gemv { k, n } => Some([k, n]),
        _ => None,
    });
    let (true, Some([hidden, emb])) = (gemvs.len() >= 4, down) else { return Vec::new() };
    let odd = gemvs.iter().map(|[k, _]| *k).find(|k| k % 512 != 0);
    if emb < 2560 && odd.is_none() {
        return Vec::new();
    }
    let text = format!(
        "a cascade of O and FFN gives wrong numbers or needs >= 5 of 4 rows: width {emb}, hidden \
         {hidden}{}",
        odd.map_or(String::new(), |k| format!(", k {k} is not of 512"))
    );
    let hint = "keep them launches through memory, or five dispatches; no cascade";
    vec![Finding::warning("", text).rule("cascade-decode").hint(hint)]
}
