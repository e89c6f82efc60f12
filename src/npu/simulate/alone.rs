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
    Ok(run(kernel, &operands, Setting { eps: EPS, scale_dim, offset: None }, None, false).values)
}
