//! A dispatch holds as many launches as compile in minutes.

use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::program::{Dispatch, Kernel, Launch, Program};

/// Eight mixed launches compile in under a minute and nine take more than ten. Two published
/// exceptions: nine of which at most three are matrix products (QKV with biases), and parts of one
/// LM head, which are copies of the same kernel (nineteen ran).
pub(super) fn find(_: &Dispatch, launches: &[Launch], _: &Program, array: &Array) -> Vec<Finding> {
    let most = array.launches_max;
    let products = launches.iter().filter(|launch| is_product(launch)).count();
    let copies = launches.iter().filter(|launch| is_gemv(launch)).count();
    let different = launches.len() - copies.saturating_sub(1);
    let head = copies > 4 && launches.iter().all(|launch| same_gemv(launch, launches));
    let fits = launches.len() <= most
        || (launches.len() == most + 1 && products <= 3)
        || (head && different <= 2 && copies <= 19);
    if fits {
        return Vec::new();
    }
    let text = format!("compile > 10 min: {} launches in one dispatch", launches.len());
    let hint = format!("keep at most {most} launches together");
    vec![Finding::error("", text).rule("merge-size").hint(hint)]
}

fn is_product(launch: &Launch) -> bool {
    matches!(launch.kernel, Kernel::Gemm { .. } | Kernel::Gemv { .. })
}

fn is_gemv(launch: &Launch) -> bool {
    matches!(launch.kernel, Kernel::Gemv { .. })
}

/// Not a GEMV, or one of the same shape as every other.
fn same_gemv(launch: &Launch, launches: &[Launch]) -> bool {
    let same = |other: &Launch| !is_gemv(other) || other.kernel == launch.kernel;
    !is_gemv(launch) || launches.iter().all(same)
}
