//! Reports for people: every number beside its threshold, and how to see it again.

use super::gate::{Gate, Judgement};
use super::receipt::Receipt;

/// What a pass on made-up weights is called. It can never be shown as a model's pass.
pub(super) const SYNTHETIC: &str = "Pass (synthetic: structure, numerics and time only)";

/// The text of `reports/<gate>.md`.
pub(super) fn gate(gate: &Gate, receipt: &Receipt, _judgement: &Judgement) -> String {
    format!("# Gate `{}`: {}\n\n{}\n", gate.id, receipt.verdict, receipt.headline)
}
