//! RoPE: pairs of a head rotated by an angle that grows with the position.

use super::form::{Form, Operand, Operands, product};

pub(super) const FORM: Form = Form {
    name: "rope",
    computes: "half-split rotation of each row; row r takes the row of the table of its token: r / heads seq-first, r % tokens heads-first; a table row is cosines, then sines, half a head each",
    inputs: &["x", "table"],
    outputs: &["y"],
    tile: "none: one row a transfer",
    streams: 3,
    rtol: 1.6e-2,
    atol: 5e-2,
    mean_rel_l1: 2.8e-3,
};

pub(super) fn operands(rows: usize, width: usize) -> Operands {
    let x = product(&[rows, width]);
    Operands {
        inputs: vec![Operand::bf16("x", x), Operand::bf16("table", x).shared()],
        outputs: vec![Operand::bf16("y", x)],
    }
}
