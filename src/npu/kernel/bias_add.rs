//! BiasAdd: one row added to every row.

use super::form::{Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "bias-add",
    computes: "y = x + bias, row by row",
    inputs: &["x", "bias"],
    outputs: &["y"],
    tile: "none: whole rows",
    streams: 3,
    rtol: 1.6e-2,
    atol: 5e-2,
    mean_rel_l1: 1.9e-3,
};

pub(super) fn operands(rows: usize, width: usize) -> Operands {
    let x = product(&[rows, width]);
    Operands {
        inputs: vec![Operand::bf16("x", x), Operand::bf16("bias", width)],
        outputs: vec![Operand::bf16("y", x)],
    }
}
