//! GEMVs of different depth in one dispatch are different objects, and need different names.

use std::collections::BTreeSet;

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Kernel, Launch, Program};

/// Rule S. A program names no objects, so this is a note to whoever compiles it.
pub(super) fn find(_: &Dispatch, launches: &[Launch], _: &Program, _: &Array) -> Vec<Finding> {
    let depths: BTreeSet<usize> = launches
        .iter()
        .filter_map(|launch| match launch.kernel {
            Kernel::Gemv { k, .. } => Some(k),
            _ => None,
        })
        .collect();
    if depths.len() < 2 {
        return Vec::new();
    }
    let listed: Vec<String> = depths.iter().map(ToString::to_string).collect();
    let text = format!(
        "GEMVs {} deep in one dispatch: one object for all is a linker symbol clash, or the wrong \
         kernel",
        listed.join(" and ")
    );
    let hint = "compile one object a depth, with renamed symbols";
    vec![Finding::note("", text).rule("extern-names").hint(hint)]
}
