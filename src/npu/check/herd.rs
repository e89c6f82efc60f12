//! A herd is a rectangle of tiles that the array has.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::Launch;

pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let [cols, rows] = launch.herd;
    // One of nothing has a rule of its own.
    if cols <= array.cols && rows <= array.rows {
        return None;
    }
    let text = format!(
        "herd dimension: {cols} × {rows} tiles on an array of {} columns × {} rows",
        array.cols, array.rows
    );
    Some(Finding::error("", text).rule("herd").hint("use 1 to 8 columns and 1 to 4 rows"))
}
