//! A herd is a rectangle of tiles that the array has.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::Launch;

pub(super) fn find(launch: &Launch, array: &Array) -> Option<Finding> {
    let [cols, rows] = launch.herd;
    if (1..=array.cols).contains(&cols) && (1..=array.rows).contains(&rows) {
        return None;
    }
    let text = format!(
        "herd of {cols} × {rows} tiles on an array of {} columns × {} rows",
        array.cols, array.rows
    );
    Some(Finding::error("", text).rule("herd").hint("use 1 to 8 columns and 1 to 4 rows"))
}
