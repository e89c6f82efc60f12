//! Add: two tensors, element by element.

use super::form::{Form, Operand, Operands};

pub(super) const FORM: Form = Form {
    name: "add",
    computes: "y = a + b",
    inputs: &["a", "b"],
    outputs: &["y"],
    tile: "n: elements a step",
    streams: 3,
    rtol: 1.6e-2,
    atol: 5e-2,
    mean_rel_l1: 1.9e-3,
};

pub(super) fn operands(elements: usize) -> Operands {
    Operands {
        inputs: vec![Operand::bf16("a", elements), Operand::bf16("b", elements)],
        outputs: vec![Operand::bf16("y", elements)],
    }
}
