//! Time of the operators that stay on the host.

use crate::model::Stage;
use crate::npu::array::Array;
use crate::npu::program::{Buffer, HostKind, HostOp, Program};

/// Microseconds of one host operator. `context` is the number of cached tokens that a decode call
/// attends to; a prefill attends to its own tokens.
pub(super) fn operator_us(op: &HostOp, program: &Program, context: usize, array: &Array) -> f64 {
    let host = &array.host;
    let size = |names: &[String]| -> usize {
        let buffers = names.iter().filter_map(|name| program.buffer(name));
        buffers.fold(0, |all, buffer: &Buffer| all.saturating_add(buffer.elements()))
    };
    let (inputs, outputs) = (size(&op.inputs) as f64, size(&op.outputs) as f64);
    match op.op {
        HostKind::Attention => {
            let width = program.heads as f64 * program.head_dim as f64;
            let flops = 4.0 * width * pairs(program, context);
            host.attention_us + flops / host.attention_flops
        }
        HostKind::LmHead => host.operator_us + 2.0 * inputs * outputs / host.lm_head_flops,
        HostKind::Transpose => host.operator_us + inputs * 2.0 / host.transpose_bytes,
        // Copies of bf16 values: cheap beside the call itself.
        HostKind::Embed => host.operator_us + outputs * 2.0 / (array.bandwidth.host_write * 1e3),
        HostKind::CacheWrite => {
            host.operator_us + inputs * 2.0 / (array.bandwidth.host_write * 1e3)
        }
        // Only the last row is normalised.
        HostKind::FinalNorm
        | HostKind::RmsNorm
        | HostKind::Rope
        | HostKind::SiluMul
        | HostKind::Add
        | HostKind::BiasAdd => host.operator_us + outputs / host.elements,
    }
}

/// Pairs of a query and a key that causal attention looks at.
fn pairs(program: &Program, context: usize) -> f64 {
    let seq = program.seq as f64;
    match program.stage {
        Stage::Prefill => seq * (seq + 1.0) / 2.0,
        Stage::Decode => seq * context.max(1) as f64,
    }
}
