//! The LM head on the array: a GEMV for each part of the vocabulary, all in one dispatch.

use super::edit::{host, insert_after, launches, refuse, remove_unused};
use crate::base::Finding;
use crate::npu::array::Array;
use crate::npu::check::clean;
use crate::npu::lower::{Tiling, gemv_tilings};
use crate::npu::program::{
    Buffer, Dispatch, Dtype, Fill, HostKind, HostOp, Kernel, Launch, Layout, Program, Residency,
    Scope, Work,
};

/// The role whose rows are the vocabulary; a tied head takes the embedding's.
const WEIGHT: &str = "output.weight";

/// The most parts that one dispatch was seen to hold.
const PARTS: usize = 19;

/// The host's head at `at` goes to the array, in as few parts as the rules allow.
///
/// One part makes `logits`; several make `logits.0`, `logits.1` and so on, which follow each other
/// in the vocabulary. What a part has beyond it is padding.
pub(super) fn to_array(program: &mut Program, at: usize, array: &Array) -> Result<(), Finding> {
    let place = program.dispatches[at].name.clone();
    let no = |text: &str| refuse(&place, text, "look at the operands of the head");
    let op = host(&program.dispatches[at]).ok_or_else(|| no("not on the host"))?.clone();
    let ([x], [y]) = (op.inputs.as_slice(), op.outputs.as_slice()) else {
        return Err(no("a head reads one buffer and makes one"));
    };
    let size = |name: &str| program.buffer(name).map(Buffer::elements);
    let (Some(k), Some(vocab)) = (size(x), size(y)) else {
        return Err(no("its operands are unknown"));
    };
    let (parts, rows, tiling) = parts(k, vocab, array).ok_or_else(|| {
        let text = format!("no parts of a head of {vocab} × {k} are legal");
        refuse(&place, text, "keep it on the host, or pad the hidden width to a multiple of 64")
    })?;

    // 1. Buffers: the weight of each part, then what it makes.
    let result = program.buffer(y).cloned().expect("its size was read above");
    let mut after = y.clone();
    let mut run = Vec::new();
    for part in 0..parts {
        let name = |base: &str| if parts == 1 { base.to_owned() } else { format!("{base}.{part}") };
        let fill = if parts == 1 {
            Fill::Weight(WEIGHT.to_owned())
        } else {
            Fill::WeightRows { role: WEIGHT.to_owned(), first: part * rows }
        };
        let made = Buffer { name: name(y), shape: vec![1, rows], ..result.clone() };
        let weight = Buffer {
            name: name(WEIGHT),
            shape: vec![rows, k],
            dtype: Dtype::Bf16,
            layout: Layout::SeqFirst,
            residency: Residency::Activation,
            scope: Scope::Model,
            fill: Some(fill),
        };
        run.push(Launch {
            kernel: Kernel::Gemv { k, n: rows },
            inputs: vec![x.clone(), weight.name.clone()],
            outputs: vec![made.name.clone()],
            herd: tiling.herd,
            tile: tiling.tile,
        });
        let (weight_name, made_name) = (weight.name.clone(), made.name.clone());
        if program.buffer(&weight_name).is_some() {
            return Err(no("there is a buffer of the head's weight already"));
        }
        insert_after(program, &after, weight);
        if parts == 1 {
            program.buffers.iter_mut().filter(|b| b.name == *y).for_each(|b| *b = made.clone());
            after = weight_name;
        } else {
            insert_after(program, &weight_name, made);
            after = made_name;
        }
    }

    // 2. The dispatch itself.
    program.dispatches[at].work = Work::Launches(run);
    if parts > 1 {
        remove_unused(program, &op.outputs);
    }
    Ok(())
}

/// Whether a dispatch is a head as `to_array` makes it.
pub(super) fn is_head(dispatch: &Dispatch, program: &Program) -> bool {
    let all = launches(dispatch);
    !all.is_empty()
        && all.iter().all(|launch| {
            let weight = launch.inputs.get(1).and_then(|name| program.buffer(name));
            matches!(launch.kernel, Kernel::Gemv { .. })
                && weight.is_some_and(|weight| {
                    matches!(&weight.fill, Some(Fill::Weight(role) | Fill::WeightRows { role, .. })
                        if role == WEIGHT)
                })
        })
}

/// The head at `at` goes back to the host, which makes `vocab` logits.
pub(super) fn to_host(
    program: &mut Program,
    at: usize,
    vocab: Option<usize>,
) -> Result<(), Finding> {
    let place = program.dispatches[at].name.clone();
    let all = launches(&program.dispatches[at]).to_vec();
    let no = |text: &str| refuse(&place, text, "look at the operands of the head");
    let x =
        all.first().and_then(|launch| launch.inputs.first()).ok_or_else(|| no("it is empty"))?;
    let made: Vec<String> = all.iter().flat_map(|launch| launch.outputs.clone()).collect();
    let first = made.first().ok_or_else(|| no("it makes nothing"))?;
    let rows: usize =
        made.iter().filter_map(|name| program.buffer(name)).map(Buffer::elements).sum();
    let result = program.buffer(first).ok_or_else(|| no("what it makes is unknown"))?;
    let name = first.strip_suffix(".0").filter(|_| made.len() > 1).unwrap_or(first).to_owned();
    let shape = vec![1, vocab.unwrap_or(rows)];
    let whole = Buffer { name: name.clone(), shape, ..result.clone() };
    let weights: Vec<String> = all.iter().flat_map(|launch| launch.inputs[1..].to_vec()).collect();
    let residency = |name: &String| program.buffer(name).map(|buffer| buffer.residency);
    if weights.iter().any(|name| residency(name) != Some(Residency::Activation)) {
        let text = "the parts of its weight are static, and the host has no use for them";
        return Err(refuse(&place, text, "make them activations first"));
    }
    if let Some(at) = program.buffers.iter().position(|buffer| weights.contains(&buffer.name)) {
        program.buffers.retain(|buffer| buffer.name != name);
        program.buffers.insert(at.min(program.buffers.len()), whole);
        // The result stood before its weight when there was one part.
        if let [_] = made.as_slice()
            && let Some(at) = program.buffers.iter().position(|buffer| buffer.name == name)
            && at > 0
            && weights.contains(&program.buffers[at - 1].name)
        {
            program.buffers.swap(at - 1, at);
        }
    }
    let op = HostOp { op: HostKind::LmHead, inputs: vec![x.clone()], outputs: vec![name] };
    program.dispatches[at].work = Work::Host(op);
    remove_unused(program, &weights);
    remove_unused(program, &made);
    Ok(())
}

/// Fewest parts of equal rows, with the fastest tiling that not even a warning speaks against.
fn parts(k: usize, vocab: usize, array: &Array) -> Option<(usize, usize, Tiling)> {
    (1..=PARTS).find_map(|parts| {
        let rows = vocab.div_ceil(parts).next_multiple_of(64);
        let tilings = gemv_tilings(k, rows, array).into_iter();
        let mut good =
            tilings.filter(|tiling| clean(&tiling.launch(Kernel::Gemv { k, n: rows }), array));
        good.next().map(|tiling| (parts, rows, tiling))
    })
}
