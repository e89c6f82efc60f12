//! Cast: f32 to bf16, floored as the core does unless told otherwise.

use super::form::{Form, Operand, Operands};

pub(super) const FORM: Form = Form {
    name: "cast",
    computes: "y = bf16(x), towards minus infinity",
    inputs: &["x"],
    outputs: &["y"],
    tile: "n: elements a step",
    streams: 2,
    rtol: 1.6e-2,
    atol: 1.5e-3,
    mean_rel_l1: 9.7e-3,
};

pub(super) fn operands(elements: usize) -> Operands {
    Operands {
        inputs: vec![Operand::f32("x", elements)],
        outputs: vec![Operand::bf16("y", elements)],
    }
}
