//! Kernels that work on rows share the rows evenly, in vectors of 16.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Kernel, Launch};

pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let (Kernel::RmsNorm { rows, width }
    | Kernel::LayerNorm { rows, width }
    | Kernel::Rope { rows, width }
    | Kernel::BiasAdd { rows, width }) = launch.kernel
    else {
        return None;
    };
    let tiles = launch.herd[0].saturating_mul(launch.herd[1]);
    if rows > 0 && width > 0 && tiles > 0 && rows % tiles == 0 && width % 16 == 0 {
        return None;
    }
    let text = format!("{rows} rows of {width} on {tiles} tiles: rows must divide, width be of 16");
    let hint = "use one tile for the single row of a decode call";
    Some(Finding::error("", text).rule("row-divides").hint(hint))
}
