//! Cast: f32 to bf16, floored as the core does unless told otherwise.
//!
//! The second launch of a fused-cast GEMM, of which it is a part in programs; also a kernel of its
//! own.
//!
//! - **Herd** 8 × 1 (M, `calibration.csv`); two streams, so up to 16 tiles (M, rule M).
//! - **L1** `2 · 2 · tile_n · 4 bytes + stack ≤ 65536`, by the f32 side (I, as Add).
//! - **Limits**: `elements % (tile_n · tiles) = 0`, `tile_n % 16 = 0` (S).
//! - **Rounding**: no mode is set in this launch, so it floors: that is why a fused cast errs by
//!   9.7e-3 where a drain errs by 9.3e-3 (I, `numerics.md` §1).
//! - **Errors**: nothing is published for it alone; the bar is that of the GEMM (S).
//! - **Bound** by memory. **Costs** 1.446 cycles an element of a core (I, `arch.toml`); 4.19 M
//!   elements take 450 µs (M, one row).

use super::form::{Band, Form, Operand, Operands};

pub(super) const FORM: Form = Form {
    name: "cast",
    aliases: &["Cast"],
    computes: "y = bf16(x), towards minus infinity",
    inputs: &["x"],
    outputs: &["y"],
    sizes: &["elements"],
    published: &[4_194_304],
    tile: "n: elements a step",
    streams: 2,
    rtol: 1.6e-2,
    atol: 1.5e-3,
    mean_rel_l1: None,
    band: Band::Open,
    surrogate: None,
};

pub(super) fn operands(elements: usize) -> Operands {
    Operands {
        inputs: vec![Operand::f32("x", elements)],
        outputs: vec![Operand::bf16("y", elements)],
    }
}
