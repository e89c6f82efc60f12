//! One kernel alone, as it is measured: operands in the order of its form, one result.

use super::content::Content;
use super::error::SimulateError;
use super::launch::{Operand, Setting, run};
use crate::npu::{Dtype, Kernel, Layout};

/// What norms add to a mean square when no network says it.
const EPS: f32 = 1e-5;

/// Runs a kernel on the values of its inputs, sequence-first, each as its buffer would hold them.
///
/// Inputs are taken as they are: round them to bf16 first, as the host does when it writes a
/// buffer. The result is of the kernel's first output.
pub fn run_kernel(kernel: &Kernel, inputs: &[&[f32]]) -> Result<Vec<f32>, SimulateError> {
    let offset = match *kernel {
        Kernel::FlashAttention { queries, keys, .. } => keys.saturating_sub(queries),
        _ => 0,
    };
    run_kernel_at(kernel, inputs, offset)
}

/// The same with the first query of attention at a given position among the keys.
pub(super) fn run_kernel_at(
    kernel: &Kernel,
    inputs: &[&[f32]],
    offset: usize,
) -> Result<Vec<f32>, SimulateError> {
    senseless(kernel)?;
    let wanted = kernel.operands().inputs;
    let place = kernel.name();
    if inputs.len() != wanted.len() {
        let text = format!("{} inputs for {}", inputs.len(), wanted.len());
        let hint = format!("in order: {}", kernel.form().inputs.join(", "));
        return Err(SimulateError::senseless(place, text, hint));
    }
    for (input, operand) in inputs.iter().zip(&wanted) {
        let fits = match operand.fit {
            crate::npu::Fit::Exact => input.len() == operand.elements,
            crate::npu::Fit::Divides => operand.elements.is_multiple_of(input.len().max(1)),
        };
        if input.is_empty() || !fits {
            let text =
                format!("`{}` has {} of {} values", operand.name, input.len(), operand.elements);
            return Err(SimulateError::senseless(place, text, "give as many as the kernel takes"));
        }
    }
    let contents: Vec<Content> = inputs.iter().map(|input| Content::of(input.to_vec())).collect();
    let operand = |(content, input): (_, &&[f32])| Operand {
        content,
        dtype: Dtype::Bf16,
        layout: Layout::SeqFirst,
        elements: input.len(),
    };
    let mut operands: Vec<Operand<'_>> = contents.iter().zip(inputs).map(operand).collect();
    for (operand, wanted) in operands.iter_mut().zip(&wanted) {
        operand.dtype = wanted.dtype;
    }
    let scale_dim = match *kernel {
        Kernel::FlashAttention { head_dim, .. } => head_dim,
        _ => 1,
    };
    let setting = Setting { eps: EPS, scale_dim, offset: Some(offset) };
    Ok(run(kernel, &operands, setting, None, false).values)
}

/// Sizes that no device without rules could work on either.
pub(super) fn senseless(kernel: &Kernel) -> Result<(), SimulateError> {
    let name = kernel.name();
    let sizes = kernel.sizes();
    let named = kernel.form().sizes.iter().zip(&sizes);
    if let Some((size, _)) = named.clone().find(|(_, value)| **value == 0) {
        let hint = format!("its sizes are {}, each at least 1", kernel.form().sizes.join(", "));
        return Err(SimulateError::senseless(name, format!("`{size}` is 0"), hint));
    }
    match *kernel {
        Kernel::FlashAttention { heads, kv_heads, .. } if heads % kv_heads != 0 => {
            let text = format!("{heads} heads do not share {kv_heads} key heads evenly");
            let hint = "give `heads` as a multiple of `kv_heads`";
            Err(SimulateError::senseless(name, text, hint))
        }
        Kernel::Rope { width, .. } if width % 2 != 0 => {
            let text = format!("a row of {width} has no halves to turn");
            Err(SimulateError::senseless(name, text, "give `width` as an even number"))
        }
        _ => Ok(()),
    }
}
