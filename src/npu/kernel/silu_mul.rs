//! SiLU-and-Mul: the gate through x·sigmoid(x), times the other branch.

use super::form::{Form, Operand, Operands};

pub(super) const FORM: Form = Form {
    name: "silu-mul",
    computes: "y = gate · sigmoid(gate) · up",
    inputs: &["gate", "up"],
    outputs: &["y"],
    tile: "n: elements a step",
    streams: 3,
    rtol: 1.6e-2,
    atol: 8e-2,
    mean_rel_l1: 1.0e-2,
};

pub(super) fn operands(elements: usize) -> Operands {
    Operands {
        inputs: vec![Operand::bf16("gate", elements), Operand::bf16("up", elements)],
        outputs: vec![Operand::bf16("y", elements)],
    }
}
