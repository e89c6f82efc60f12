//! A dimension of the network deployed wider: buffers, shapes of launches, and their tilings.

use super::edit::{self, by_rule, launches, makes, stated};
use super::site::Retiling;
use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::check::legal;
use crate::npu::lower::Tiling;
use crate::npu::program::{Buffer, Fill, Kernel, Launch, Program, Work};

/// A dimension that can be padded with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// The residual stream.
    Hidden,
    /// Between the two halves of the feed-forward part.
    Intermediate,
    /// All query heads together.
    Queries,
}

impl Axis {
    /// The dimension of a value by its name; copies and scratch have that of what they copy.
    fn of_value(name: &str) -> Option<Self> {
        let name = name.strip_suffix("_f32").unwrap_or(name);
        Some(match name {
            "hidden" | "attn_norm" | "o" | "attn_out" | "ffn_norm" | "down" | "final_norm" => {
                Self::Hidden
            }
            "gate" | "up" | "silu_mul" => Self::Intermediate,
            "q_proj" | "q" | "q_norm" | "q_rope" | "attn" | "q_heads" | "attn_heads" => {
                Self::Queries
            }
            _ => return None,
        })
    }

    /// The dimensions of a weight by its role: outputs, then inputs where it is a matrix.
    fn of_weight(role: &str) -> [Option<Self>; 2] {
        let (hidden, inner, queries) =
            (Some(Self::Hidden), Some(Self::Intermediate), Some(Self::Queries));
        match role {
            "attn_norm.weight" | "ffn_norm.weight" | "output_norm.weight" => [hidden, None],
            "attn_q.bias" => [queries, None],
            "attn_q.weight" => [queries, hidden],
            "attn_k.weight" | "attn_v.weight" | "output.weight" => [None, hidden],
            "attn_output.weight" => [hidden, queries],
            "ffn_gate.weight" | "ffn_up.weight" => [inner, hidden],
            "ffn_down.weight" => [hidden, inner],
            _ => [None, None],
        }
    }
}

/// How wide a dimension is deployed, as the buffers say.
pub(super) fn width(program: &Program, axis: Axis) -> Option<usize> {
    let of = |buffer: &&Buffer| buffer.fill.is_none() && Axis::of_value(&buffer.name) == Some(axis);
    program.buffers.iter().find(of)?.shape.last().copied()
}

/// Deploys a dimension at another width. Launches whose shape changes get the tiling that
/// `tilings` states, else the one by rule.
pub(super) fn resize(
    program: &mut Program,
    axis: Axis,
    to: usize,
    tilings: &[Retiling],
    array: &Array,
) -> Result<(), Finding> {
    // 1. Buffers. A GEMM's weight lies as [inputs, outputs], a GEMV's as [outputs, inputs].
    let transposed: Vec<String> = program
        .dispatches
        .iter()
        .flat_map(launches)
        .filter(|launch| matches!(launch.kernel, Kernel::Gemm { .. }))
        .filter_map(|launch| launch.inputs.get(1).cloned())
        .collect();
    for buffer in &mut program.buffers {
        match &buffer.fill {
            Some(Fill::Weight(role) | Fill::WeightRows { role, .. }) => {
                let mut axes = Axis::of_weight(role);
                if transposed.contains(&buffer.name) {
                    axes.reverse();
                }
                for (size, of) in buffer.shape.iter_mut().zip(axes) {
                    if of == Some(axis) {
                        *size = to;
                    }
                }
            }
            _ if Axis::of_value(&buffer.name) == Some(axis) => {
                if let Some(size) = buffer.shape.last_mut() {
                    *size = to;
                }
            }
            _ => (),
        }
    }

    // 2. Launches, from the buffers that they name.
    for dispatch in 0..program.dispatches.len() {
        for index in 0..launches(&program.dispatches[dispatch]).len() {
            let launch = &launches(&program.dispatches[dispatch])[index];
            let kernel = fitted(launch, program);
            if kernel == launch.kernel {
                continue;
            }
            let (now, made) = (Tiling::of_launch(launch), makes(launch).to_owned());
            let tiling = match stated(tilings, &made)? {
                Some(tiling) => Some(tiling),
                None => by_rule(&kernel, program, array)
                    .filter(|tiling| legal(&tiling.launch(kernel), array)),
            };
            if let Work::Launches(launches) = &mut program.dispatches[dispatch].work {
                launches[index].kernel = kernel;
            }
            edit::retile(program, dispatch, index, tiling.unwrap_or(now))?;
        }
    }
    Ok(())
}

/// Names of the launches whose shape differs between two programs.
pub(super) fn reshaped(before: &Program, after: &Program) -> Vec<String> {
    let all = |program: &Program| -> Vec<Launch> {
        program.dispatches.iter().flat_map(launches).cloned().collect()
    };
    let (before, after) = (all(before), all(after));
    let sizes = |launch: &Launch| launch.kernel.operands().inputs;
    let pairs = before.iter().zip(&after).filter(|(a, b)| sizes(a) != sizes(b));
    pairs.map(|(before, _)| makes(before).to_owned()).collect()
}

/// The kernel in the shape that the buffers of its launch have.
fn fitted(launch: &Launch, program: &Program) -> Kernel {
    let input = |at: usize| launch.inputs.get(at).and_then(|name| program.buffer(name));
    let output = launch.outputs.first().and_then(|name| program.buffer(name));
    let rows = |width: usize| {
        let elements = input(0).map(Buffer::elements);
        elements.and_then(|elements| elements.checked_div(width)).unwrap_or(0)
    };
    let row = input(1).map(Buffer::elements);
    let matrix = input(1).and_then(|buffer| <[usize; 2]>::try_from(buffer.shape.clone()).ok());
    let elements = output.map(Buffer::elements);
    match (launch.kernel, matrix, row, elements) {
        (Kernel::Gemm { m, method, .. }, Some([k, n]), ..) => Kernel::Gemm { m, k, n, method },
        (Kernel::Gemv { .. }, Some([n, k]), ..) => Kernel::Gemv { k, n },
        (Kernel::FlashAttention { queries, keys, causal, .. }, ..) => {
            let Program { heads, kv_heads, head_dim, .. } = *program;
            Kernel::FlashAttention { queries, keys, heads, kv_heads, head_dim, causal }
        }
        (Kernel::RmsNorm { .. }, _, Some(width), _) => Kernel::RmsNorm { rows: rows(width), width },
        (Kernel::BiasAdd { .. }, _, Some(width), _) => Kernel::BiasAdd { rows: rows(width), width },
        (Kernel::Rope { width, .. }, ..) => Kernel::Rope { rows: rows(width), width },
        (Kernel::SiluMul { .. }, .., Some(elements)) => Kernel::SiluMul { elements },
        (Kernel::Gelu { .. }, .., Some(elements)) => Kernel::Gelu { elements },
        (Kernel::Add { .. }, .., Some(elements)) => Kernel::Add { elements },
        (Kernel::Cast { .. }, .., Some(elements)) => Kernel::Cast { elements },
        (other, ..) => other,
    }
}
