//! GEMV: one token times a weight, bound by how fast the weight is read.

use super::form::{Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "gemv",
    computes: "y[n] = w[n, k] · x[k] in f32 lanes, rounded to nearest even",
    inputs: &["x", "w"],
    outputs: &["y"],
    tile: "m: rows a core; k_l1: rows a step (m_input); k_l2: parts that k is cut into (k_split), \
           0 where one transfer holds it",
    streams: 3,
    rtol: 1.6e-2,
    atol: 1e-3,
    mean_rel_l1: 2.7e-8,
};

pub(super) fn operands(k: usize, n: usize) -> Operands {
    Operands {
        inputs: vec![Operand::bf16("x", k), Operand::bf16("w", product(&[n, k]))],
        outputs: vec![Operand::bf16("y", n)],
    }
}
