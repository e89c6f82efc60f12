//! A program under construction: buffers and dispatches in the order in which they are named.

use crate::base::Finding;
use crate::model::Stage;
use crate::npu::array::Array;
use crate::npu::program::{
    Buffer, Dispatch, Dtype, Fill, HostKind, HostOp, Kernel, Launch, Layout, Method, Program,
    Residency, Scope, Work,
};

use super::outline::Outline;
use super::tiling::{Tiling, gemv, nearest, row_herd, vector};

pub(super) struct Build<'a> {
    pub(super) array: &'a Array,
    pub(super) program: Program,
    pub(super) findings: Vec<Finding>,
}

impl<'a> Build<'a> {
    pub(super) fn new(
        outline: &Outline,
        array: &'a Array,
        stage: Stage,
        seq: usize,
        capacity: usize,
    ) -> Self {
        let program = Program {
            stage,
            model: outline.name.clone(),
            layers: outline.layers,
            seq,
            capacity,
            heads: outline.heads,
            kv_heads: outline.kv_heads,
            head_dim: outline.head_dim,
            buffers: Vec::new(),
            dispatches: Vec::new(),
        };
        Self { array, program, findings: Vec::new() }
    }

    pub(super) fn buffer(&mut self, name: &str, shape: &[usize]) -> &mut Buffer {
        let at = self.program.buffers.len();
        self.program.buffers.push(Buffer {
            name: name.to_owned(),
            shape: shape.to_vec(),
            dtype: Dtype::Bf16,
            layout: Layout::SeqFirst,
            residency: Residency::Activation,
            scope: Scope::Layer,
            fill: None,
        });
        &mut self.program.buffers[at]
    }

    /// A weight by its role: written on each call until somebody makes it static.
    pub(super) fn weight(&mut self, role: &str, shape: &[usize]) {
        self.buffer(role, shape).fill = Some(Fill::Weight(role.to_owned()));
    }

    pub(super) fn host(&mut self, name: &str, scope: Scope, op: HostKind, inputs: &[&str]) {
        let op = HostOp { op, inputs: names(inputs), outputs: names(&[name]) };
        let work = Work::Host(op);
        self.program.dispatches.push(Dispatch { name: name.to_owned(), scope, work });
    }

    /// One launch, alone in a dispatch that is named after what it makes.
    fn launch(&mut self, name: &str, kernel: Kernel, inputs: &[&str], tiling: Tiling) {
        let launch = Launch {
            kernel,
            inputs: names(inputs),
            outputs: names(&[name]),
            herd: tiling.herd,
            tile: tiling.tile,
        };
        let work = Work::Launches(vec![launch]);
        self.program.dispatches.push(Dispatch { name: name.to_owned(), scope: Scope::Layer, work });
    }

    /// `name[seq, n] = input[seq, k] · weight`: a GEMM in prefill, a GEMV in decode.
    pub(super) fn linear(&mut self, name: &str, input: &str, weight: &str, k: usize, n: usize) {
        if self.program.stage == Stage::Decode {
            self.weight(weight, &[n, k]);
            self.buffer(name, &[1, n]);
            let (tiling, finding) = gemv(k, n, self.array);
            self.findings.extend(finding.map(|finding| placed(finding, name)));
            self.launch(name, Kernel::Gemv { k, n }, &[input, weight], tiling);
            return;
        }
        let m = self.program.seq;
        self.weight(weight, &[k, n]);
        self.buffer(name, &[m, n]);
        let (tiling, finding) = nearest(m, k, n, self.array);
        self.findings.extend(finding.map(|finding| placed(finding, name)));
        let method = tiling.method.unwrap_or_default();
        self.launch(name, Kernel::Gemm { m, k, n, method }, &[input, weight], tiling);
        if method == Method::FusedCast {
            let scratch = format!("{name}_f32");
            let buffer = self.buffer(&scratch, &[m, n]);
            buffer.dtype = Dtype::F32;
            buffer.residency = Residency::Intermediate;
            if let Some(Work::Launches(launches)) =
                self.program.dispatches.last_mut().map(|dispatch| &mut dispatch.work)
            {
                launches[0].outputs.push(scratch);
            }
        }
    }

    pub(super) fn rms_norm(&mut self, name: &str, inputs: [&str; 2], rows: usize, width: usize) {
        self.weight(inputs[1], &[width]);
        self.buffer(name, &[self.program.seq, rows / self.program.seq * width]);
        let tiling = row_herd(rows, self.program.stage, self.array);
        self.launch(name, Kernel::RmsNorm { rows, width }, &inputs, tiling);
    }

    pub(super) fn bias_add(&mut self, name: &str, inputs: [&str; 2], width: usize) {
        let rows = self.program.seq;
        self.weight(inputs[1], &[width]);
        self.buffer(name, &[rows, width]);
        let tiling = row_herd(rows, self.program.stage, self.array);
        self.launch(name, Kernel::BiasAdd { rows, width }, &inputs, tiling);
    }

    pub(super) fn rope(&mut self, name: &str, input: &str, heads: usize) {
        let (seq, width) = (self.program.seq, self.program.head_dim);
        let rows = seq * heads;
        self.buffer(name, &[seq, heads * width]);
        let tiling = row_herd(rows, self.program.stage, self.array);
        self.launch(name, Kernel::Rope { rows, width }, &[input, "rope_table"], tiling);
    }

    pub(super) fn elementwise(&mut self, name: &str, inputs: [&str; 2], kernel: Kernel) {
        let elements = kernel.operands().outputs[0].elements;
        if self.program.buffer(name).is_none() {
            self.buffer(name, &[self.program.seq, elements / self.program.seq]);
        }
        let (tiling, finding) = vector(&kernel, self.array);
        self.findings.extend(finding.map(|finding| placed(finding, name)));
        self.launch(name, kernel, &inputs, tiling);
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn placed(mut finding: Finding, place: &str) -> Finding {
    place.clone_into(&mut finding.place);
    finding
}
