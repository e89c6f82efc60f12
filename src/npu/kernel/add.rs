//! Add: two tensors, element by element.
//!
//! - **Herd** 8 × 1 (M, `kernels.md` §2). Three streams, so at most 8 tiles: the shim has no more
//!   channels (M, rule M of `kernels.toml`).
//! - **L1** `3 · 2 · tile_n · 2 bytes + 1024 of stack ≤ 65536` (I, `legality.md`: no exception in
//!   the timed rows). 4096 fits, 8192 does not (M). **L2** nothing is staged.
//! - **Limits**: `elements % (tile_n · tiles) = 0` and `tile_n % 16 = 0` (S, vectors of 16).
//!   `elements / 8 ≤ 16 · 32 · tile_n` was written down for descriptors (rule U), larger chains
//!   were timed: it warns. 245760 elements in steps of 2048 are silently wrong (M, `legality.md`).
//! - **Rounding**: the sum is floored to bf16, as cores do that set no mode (I, `numerics.md` §3).
//! - **Errors**: rtol 1.6e-2, atol 5e-2 (S, `kernels.toml`); mean_rel_L1 1.9e-3 (M,
//!   `calibration.csv`), simulated 1.88e-3; the band is ±10 %.
//! - **Bound** by memory, 45 to 63 GB/s (M). **Costs** 1.237 cycles an element of a core (I,
//!   `arch.toml`).

use super::form::{Band, Form, Operand, Operands};

pub(super) const FORM: Form = Form {
    name: "add",
    aliases: &["eltwise-add", "EltwiseAdd"],
    computes: "y = a + b",
    inputs: &["a", "b"],
    outputs: &["y"],
    sizes: &["elements"],
    published: &[4_194_304],
    tile: "n: elements a step",
    streams: 3,
    rtol: 1.6e-2,
    atol: 5e-2,
    mean_rel_l1: Some(1.9e-3),
    band: Band::TwoSided(10.0),
    surrogate: None,
};

pub(super) fn operands(elements: usize) -> Operands {
    Operands {
        inputs: vec![Operand::bf16("a", elements), Operand::bf16("b", elements)],
        outputs: vec![Operand::bf16("y", elements)],
    }
}
