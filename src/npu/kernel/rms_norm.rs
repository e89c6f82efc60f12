//! RMSNorm: each row divided by its root mean square, times a weight.

use super::form::{Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "rms-norm",
    computes: "y = x / sqrt(mean(x²) + eps) · weight, row by row; QK-norm has heads as rows",
    inputs: &["x", "weight"],
    outputs: &["y"],
    tile: "none: whole rows",
    streams: 3,
    rtol: 1.6e-2,
    atol: 5e-2,
    mean_rel_l1: 4.2e-3,
};

pub(super) fn operands(rows: usize, width: usize) -> Operands {
    let x = product(&[rows, width]);
    Operands {
        inputs: vec![Operand::bf16("x", x), Operand::bf16("weight", width)],
        outputs: vec![Operand::bf16("y", x)],
    }
}
