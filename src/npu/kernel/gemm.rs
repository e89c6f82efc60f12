//! GEMM: a matrix of tokens times a weight, on the whole array.

use crate::npu::program::Method;

use super::form::{Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "gemm",
    computes: "y[m, n] = a[m, k] · w[k, n] in f32 accumulators, rounded as the method says",
    inputs: &["a", "w"],
    outputs: &["y", "scratch"],
    tile: "m, n: rows and columns a core; k_l2: depth staged in L2; k_l1: depth of one L1 call; \
           herd columns split m, herd rows split n",
    streams: 3,
    rtol: 1.6e-2,
    atol: 1.5e-3,
    mean_rel_l1: 9.7e-3,
};

/// A fused cast needs `scratch`, an f32 buffer of the result's size, as second output: without it
/// the result is zeros.
pub(super) fn operands(m: usize, k: usize, n: usize, method: Method) -> Operands {
    let size = product(&[m, n]);
    let inputs = vec![Operand::bf16("a", product(&[m, k])), Operand::bf16("w", product(&[k, n]))];
    let outputs = match method {
        Method::FusedCast => vec![Operand::bf16("y", size), Operand::f32("scratch", size)],
        Method::Drain | Method::Direct => vec![Operand::bf16("y", size)],
        Method::External => vec![Operand::f32("y", size)],
    };
    Operands { inputs, outputs }
}
