//! GELU in its tanh form.

use super::form::{Form, Operand, Operands};

pub(super) const FORM: Form = Form {
    name: "gelu",
    computes: "y = x / 2 · (1 + tanh(sqrt(2/π) · (x + 0.044715 x³)))",
    inputs: &["x"],
    outputs: &["y"],
    tile: "n: elements a step",
    streams: 2,
    rtol: 1.6e-2,
    atol: 5e-2,
    mean_rel_l1: 8.4e-3,
};

pub(super) fn operands(elements: usize) -> Operands {
    Operands {
        inputs: vec![Operand::bf16("x", elements)],
        outputs: vec![Operand::bf16("y", elements)],
    }
}
