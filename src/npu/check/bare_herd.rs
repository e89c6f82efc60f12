//! A herd that no launch and segment wrap is dropped when a dispatch is stitched: zeros come out.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::Launch;

/// Rule P. A launch of a program is wrapped where its herd says how many tiles it takes; a bare
/// herd has been given none, `[0, 0]`.
pub(super) fn find(launch: &Launch, _: &Array) -> Option<Finding> {
    let [cols, rows] = launch.herd;
    if cols > 0 && rows > 0 {
        return None;
    }
    let text = format!(
        "all-zero output: a bare herd of {cols} × {rows} tiles is dropped when it is stitched"
    );
    let hint = "wrap it in a launch and a segment, of 1 to 8 columns and 1 to 4 rows";
    Some(Finding::error("", text).rule("bare-herd").hint(hint))
}
