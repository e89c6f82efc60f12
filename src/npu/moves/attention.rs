//! Attention on the array and what belongs to it: copies into the cache, transposes on the host.

use super::edit::{dispatch_at, free_name, host, insert_after, launches, refuse, remove_unused};
use crate::base::Finding;
use crate::npu::program::{
    Buffer, Dispatch, HostKind, HostOp, Kernel, Launch, Layout, Program, Residency, Tile, Work,
};

/// A dispatch of attention on the array, and the values of the network that it works on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OnArray {
    pub(super) at: usize,
    pub(super) layout: Layout,
    pub(super) head_dim: usize,
    /// Queries, keys, values and result, sequence-first.
    pub(super) values: [String; 4],
}

/// What the copies in the other layout are called.
const HEADS_FIRST: [&str; 4] = ["q_heads", "k_heads", "v_heads", "attn_heads"];

impl OnArray {
    pub(super) fn all(program: &Program) -> Vec<Self> {
        let attends = |dispatch: &&Dispatch| {
            matches!(launches(dispatch), [Launch { kernel: Kernel::FlashAttention { .. }, .. }])
        };
        let names = program.dispatches.iter().filter(attends).map(|dispatch| &dispatch.name);
        names.filter_map(|name| Self::find(program, name).ok()).collect()
    }

    pub(super) fn find(program: &Program, name: &str) -> Result<Self, Finding> {
        let at = dispatch_at(program, name)?;
        let no = |text: &str| refuse(name, text, "name the dispatch of attention on the array");
        let [launch] = launches(&program.dispatches[at]) else {
            return Err(no("this is no dispatch of one launch"));
        };
        let Kernel::FlashAttention { head_dim, .. } = launch.kernel else {
            return Err(no("this is no attention"));
        };
        let ([q, k, v], [y]) = (launch.inputs.as_slice(), launch.outputs.as_slice()) else {
            return Err(no("attention reads three buffers and makes one"));
        };
        let buffer = program.buffer(q).ok_or_else(|| no("its queries are unknown"))?;
        let layout = buffer.layout;
        let values = if layout == Layout::SeqFirst {
            [q, k, v, y].map(Clone::clone)
        } else {
            let from = |made: &String| transposed(program, |op| (&op.outputs, &op.inputs), made);
            let to = |read: &String| transposed(program, |op| (&op.inputs, &op.outputs), read);
            let values = (from(q), from(k), from(v), to(y));
            let (Some(q), Some(k), Some(v), Some(y)) = values else {
                return Err(no("its operands are not transposed by the host"));
            };
            [q, k, v, y]
        };
        Ok(Self { at, layout, head_dim, values })
    }

    pub(super) fn name(&self, program: &Program) -> String {
        program.dispatches[self.at].name.clone()
    }
}

/// What stands on the other side of the transpose that has `name` on this side.
fn transposed(
    program: &Program,
    sides: fn(&HostOp) -> (&Vec<String>, &Vec<String>),
    name: &str,
) -> Option<String> {
    let mut ops = program.dispatches.iter().filter_map(host);
    ops.find_map(|op| {
        let (this, other) = sides(op);
        let here = op.op == HostKind::Transpose && this.iter().any(|one| one == name);
        here.then(|| other.first().cloned()).flatten()
    })
}

/// Attention of the host at `at` goes to the array, in this layout.
pub(super) fn to_array(
    program: &mut Program,
    at: usize,
    layout: Layout,
    name: Option<&str>,
) -> Result<(), Finding> {
    let place = program.dispatches[at].name.clone();
    let no = |text: &str| refuse(&place, text, "look at the operands of attention");
    let op = host(&program.dispatches[at]).ok_or_else(|| no("not on the host"))?.clone();
    let ([q, k, v], [y]) = (op.inputs.as_slice(), op.outputs.as_slice()) else {
        return Err(no("attention reads three buffers and makes one"));
    };
    let (heads, kv_heads, head_dim) = (program.heads, program.kv_heads, program.head_dim);
    let (queries, keys) = (program.seq, program.seq);
    let kernel = Kernel::FlashAttention { queries, keys, heads, kv_heads, head_dim, causal: true };
    let launch = Launch {
        kernel,
        inputs: vec![q.clone(), k.clone(), v.clone()],
        outputs: vec![y.clone()],
        herd: [8, 4],
        tile: Tile { m: 256, k_l1: 64, ..Tile::default() },
    };
    let scope = program.dispatches[at].scope;
    let name = free_name(name.unwrap_or("flash_attn"), program, &[&place]);
    let copy = HostOp {
        op: HostKind::CacheWrite,
        inputs: vec![k.clone(), v.clone()],
        outputs: Vec::new(),
    };
    let cache = free_name("kv_cache", program, &[]);
    program.dispatches[at] =
        Dispatch { name: name.clone(), scope, work: Work::Launches(vec![launch]) };
    program.dispatches.insert(at, Dispatch { name: cache, scope, work: Work::Host(copy) });
    if layout == Layout::HeadsFirst {
        let found = OnArray::find(program, &name)?;
        transpose(program, &found)?;
    }
    Ok(())
}

/// Attention of the array goes back to the host, and what belongs to it goes away.
pub(super) fn to_host(program: &mut Program, found: OnArray, name: &str) -> Result<(), Finding> {
    let mut found = found;
    if found.layout == Layout::HeadsFirst {
        let dispatch = found.name(program);
        align(program, &found);
        found = OnArray::find(program, &dispatch)?;
    }
    for value in &found.values {
        let seen = program.buffer(value).map(|buffer| buffer.residency);
        if seen == Some(Residency::Intermediate) {
            let text = format!("`{value}` is an intermediate, which the host cannot see");
            return Err(refuse(value, text, "make it an activation first"));
        }
    }
    let [q, k, v, y] = found.values;
    let op =
        HostOp { op: HostKind::Attention, inputs: vec![q, k.clone(), v.clone()], outputs: vec![y] };
    let dispatch = &mut program.dispatches[found.at];
    name.clone_into(&mut dispatch.name);
    dispatch.work = Work::Host(op);
    let copies = [k, v];
    program.dispatches.retain(|dispatch| {
        !dispatch.is_host(HostKind::CacheWrite)
            || host(dispatch).is_none_or(|op| op.inputs != copies)
    });
    Ok(())
}

/// Takes the transposes around attention away.
pub(super) fn align(program: &mut Program, found: &OnArray) {
    let mut copies = Vec::new();
    if let Work::Launches(launches) = &mut program.dispatches[found.at].work {
        let [q, k, v, y] = found.values.clone();
        copies.append(&mut launches[0].inputs);
        copies.append(&mut launches[0].outputs);
        launches[0].inputs = vec![q, k, v];
        launches[0].outputs = vec![y];
    }
    program.dispatches.retain(|dispatch| {
        let touches = |op: &HostOp| op.inputs.iter().chain(&op.outputs).any(|n| copies.contains(n));
        !dispatch.is_host(HostKind::Transpose) || !host(dispatch).is_some_and(touches)
    });
    remove_unused(program, &copies);
}

/// Puts transposes around attention, and copies in the other layout.
pub(super) fn transpose(program: &mut Program, found: &OnArray) -> Result<(), Finding> {
    let place = found.name(program);
    let scope = program.dispatches[found.at].scope;
    let mut steps = Vec::new();
    for (value, copy) in found.values.iter().zip(HEADS_FIRST) {
        let Some(buffer) = program.buffer(value).cloned() else {
            return Err(refuse(&place, format!("there is no buffer `{value}`"), "declare it"));
        };
        if buffer.residency == Residency::Intermediate {
            let text = format!("`{value}` is an intermediate, which the host cannot transpose");
            return Err(refuse(&place, text, "make it an activation first"));
        }
        if program.buffer(copy).is_some() {
            let text = format!("there is a buffer `{copy}` already");
            return Err(refuse(&place, text, "rename it"));
        }
        let heads_first = Buffer {
            name: copy.to_owned(),
            layout: Layout::HeadsFirst,
            residency: Residency::Activation,
            fill: None,
            ..buffer
        };
        insert_after(program, value, heads_first);
        let is_result = copy == HEADS_FIRST[3];
        let (from, to) = if is_result { (copy, value.as_str()) } else { (value.as_str(), copy) };
        let op = HostOp {
            op: HostKind::Transpose,
            inputs: vec![from.to_owned()],
            outputs: vec![to.to_owned()],
        };
        let name = free_name(to, program, &[]);
        steps.push(Dispatch { name, scope, work: Work::Host(op) });
    }
    if let Work::Launches(launches) = &mut program.dispatches[found.at].work {
        let [q, k, v, y] = HEADS_FIRST.map(str::to_owned);
        launches[0].inputs = vec![q, k, v];
        launches[0].outputs = vec![y];
    }
    let after = steps.split_off(3);
    let behind = found.at + 1;
    program.dispatches.splice(behind..behind, after);
    program.dispatches.splice(found.at..found.at, steps);
    Ok(())
}
