//! LayerNorm: each row centred and scaled, times a weight, plus a bias.

use super::form::{Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "layer-norm",
    computes: "y = (x − mean) / sqrt(var + eps) · weight + bias; weight and bias packed in one buffer",
    inputs: &["x", "weight_bias"],
    outputs: &["y"],
    tile: "none: whole rows",
    streams: 3,
    rtol: 1.6e-2,
    atol: 6e-2,
    mean_rel_l1: 4.4e-3,
};

pub(super) fn operands(rows: usize, width: usize) -> Operands {
    let x = product(&[rows, width]);
    let packed = Operand::bf16("weight_bias", product(&[2, width]));
    Operands { inputs: vec![Operand::bf16("x", x), packed], outputs: vec![Operand::bf16("y", x)] }
}
