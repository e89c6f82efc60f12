//! One kernel alone, as it is measured: operands in the order of its form, one result.
//!
//! Or one launch of a dispatch that nobody checked, with what the device silently makes of it.

use super::content::Content;
use super::damage::{Damage, damages};
use super::error::SimulateError;
use super::launch::{Operand, Setting, columns, run, store};
use crate::model::Stage;
use crate::npu::{Array, Dispatch, Fit, Kernel, Launch, Layout, Program, Scope, Work};

/// What norms add to a mean square when no network says it.
const EPS: f32 = 1e-5;

/// Runs a kernel on the values of its inputs, sequence-first, each as its buffer would hold them.
///
/// Inputs are taken as they are: round them to bf16 first, as the host does when it writes a
/// buffer. The result is of the kernel's first output.
pub fn run_kernel(kernel: &Kernel, inputs: &[&[f32]]) -> Result<Vec<f32>, SimulateError> {
    run_kernel_at(kernel, inputs, offset(kernel))
}

/// The same with the first query of attention at a given position among the keys.
pub(super) fn run_kernel_at(
    kernel: &Kernel,
    inputs: &[&[f32]],
    offset: usize,
) -> Result<Vec<f32>, SimulateError> {
    senseless(kernel)?;
    fit(kernel, inputs)?;
    let contents: Vec<Content> = inputs.iter().map(|input| Content::of(input.to_vec())).collect();
    Ok(run(kernel, &operands(kernel, &contents, inputs), setting(kernel, offset), None, false)
        .values)
}

/// What the first output of a launch holds after the dispatch has run so often that `past` calls
/// came before, if no rule was checked: what is silently wrong on the device is wrong here, with no
/// error. What is never written is garbage. Launches name their buffers as in a program.
pub fn run_unchecked(
    dispatch: &[Launch],
    at: usize,
    inputs: &[&[f32]],
    past: usize,
    array: &Array,
) -> Result<Vec<f32>, SimulateError> {
    let Some(launch) = dispatch.get(at) else {
        let text = format!("there is no launch {at} of {}", dispatch.len());
        return Err(SimulateError::input(text, "count from 0"));
    };
    let kernel = &launch.kernel;
    senseless(kernel)?;
    fit(kernel, inputs)?;
    let damage = damages(&lone(dispatch), array).get(&(0, at)).and_then(|damage| damage.at(past));
    let contents: Vec<Content> = inputs.iter().map(|input| Content::of(input.to_vec())).collect();
    let output = kernel.operands().outputs[0];
    let made = if damage == Some(Damage::Zeros) {
        vec![0.0; output.elements]
    } else {
        let setting = setting(kernel, offset(kernel));
        run(kernel, &operands(kernel, &contents, inputs), setting, damage, false).values
    };
    let before = Content::default();
    let types = [output.dtype; 2];
    let held = store(made, types, output.elements, &before, damage, columns(kernel));
    Ok(held.values(output.elements).to_vec())
}

/// A program of nothing but this dispatch.
fn lone(dispatch: &[Launch]) -> Program {
    let dispatch = Dispatch {
        name: "alone".to_owned(),
        scope: Scope::Layer,
        work: Work::Launches(dispatch.to_vec()),
    };
    Program {
        stage: Stage::Prefill,
        model: String::new(),
        layers: 1,
        seq: 1,
        capacity: 1,
        heads: 1,
        kv_heads: 1,
        head_dim: 1,
        buffers: Vec::new(),
        dispatches: vec![dispatch],
    }
}

/// Position of the first query of attention when nothing says it: the last queries of all keys.
fn offset(kernel: &Kernel) -> usize {
    match *kernel {
        Kernel::FlashAttention { queries, keys, .. } => keys.saturating_sub(queries),
        _ => 0,
    }
}

fn setting(kernel: &Kernel, offset: usize) -> Setting {
    let scale_dim = match *kernel {
        Kernel::FlashAttention { head_dim, .. } => head_dim,
        _ => 1,
    };
    Setting { eps: EPS, scale_dim, offset: Some(offset) }
}

fn operands<'a>(kernel: &Kernel, contents: &'a [Content], inputs: &[&[f32]]) -> Vec<Operand<'a>> {
    let wanted = kernel.operands().inputs;
    let each = contents.iter().zip(inputs).zip(&wanted);
    each.map(|((content, input), wanted)| Operand {
        content,
        dtype: wanted.dtype,
        layout: Layout::SeqFirst,
        elements: input.len(),
    })
    .collect()
}

/// Whether there are as many inputs as the kernel takes, each as long as it must be.
fn fit(kernel: &Kernel, inputs: &[&[f32]]) -> Result<(), SimulateError> {
    let wanted = kernel.operands().inputs;
    let place = kernel.name();
    if inputs.len() != wanted.len() {
        let text = format!("{} inputs for {}", inputs.len(), wanted.len());
        let hint = format!("in order: {}", kernel.form().inputs.join(", "));
        return Err(SimulateError::senseless(place, text, hint));
    }
    for (input, operand) in inputs.iter().zip(&wanted) {
        let fits = match operand.fit {
            Fit::Exact => input.len() == operand.elements,
            Fit::Divides => operand.elements.is_multiple_of(input.len().max(1)),
        };
        if input.is_empty() || !fits {
            let text =
                format!("`{}` has {} of {} values", operand.name, input.len(), operand.elements);
            return Err(SimulateError::senseless(place, text, "give as many as the kernel takes"));
        }
    }
    Ok(())
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
