//! Operators that stay on the host: f32 inside, stored to nearest in the dtype of the buffer.

use super::axis::Axis;
use super::call::Call;
use super::error::SimulateError;
use super::plan::Slot;
use crate::model::{Role, attention};
use crate::npu::{Dtype, HostKind, Layout};
use crate::tensor::round::bf16_rne_all;
use crate::tensor::{matmul, ops};

impl Call<'_> {
    /// Runs one operator on what the host's sides hold. Outputs change on the host's side alone.
    pub(super) fn host(
        &mut self,
        op: HostKind,
        inputs: &[usize],
        outputs: &[usize],
    ) -> Result<(), SimulateError> {
        let made = match op {
            HostKind::Embed => {
                let rows = self.rows(outputs[0]);
                self.fills.embed(self.tokens, rows.count, rows.width)?
            }
            HostKind::Attention => self.attend(inputs, outputs[0]),
            HostKind::CacheWrite => {
                let [keys, values] =
                    [0, 1].map(|at| self.network(inputs[at], Axis::Keys, self.tokens.len()));
                self.cache.write(self.layer, self.start, [&keys, &values]);
                return Ok(());
            }
            HostKind::Transpose => self.transpose(inputs[0], outputs[0]),
            HostKind::FinalNorm => {
                let all = self.network(inputs[0], Axis::Hidden, self.row + 1);
                let norm = self.fills.model().weights.get(Role::OutputNorm, None)?;
                let mut normed = vec![0.0; norm.data.len()];
                let last = &all[all.len() - norm.data.len()..];
                ops::rms_norm(last, &norm.data, self.fills.model().config.norm_eps, &mut normed);
                self.rows(outputs[0]).put(&normed, Axis::Hidden, self.widths())
            }
            HostKind::LmHead => {
                let normed = self.network(inputs[0], Axis::Hidden, 1);
                let head = self.fills.model().weights.get(Role::Output, None)?;
                let mut logits = vec![0.0; head.rows()];
                matmul(&normed, &head.data, &mut logits, 1, normed.len());
                self.rows(outputs[0]).put(&logits, Axis::Vocab, self.widths())
            }
            HostKind::RmsNorm => {
                let (x, weight) = (self.seen(inputs[0])?, self.seen(inputs[1])?);
                let whole = x.len() / weight.len() * weight.len();
                let mut out = vec![0.0; x.len()];
                let eps = self.fills.model().config.norm_eps;
                ops::rms_norm(&x[..whole], &weight, eps, &mut out[..whole]);
                out
            }
            HostKind::Rope => self.rotate(inputs)?,
            HostKind::SiluMul => {
                let (mut gate, up) = (self.seen(inputs[0])?, self.seen(inputs[1])?);
                let count = gate.len().min(up.len());
                gate.truncate(count);
                ops::silu_mul(&mut gate, &up[..count]);
                gate
            }
            HostKind::Add => {
                let (mut a, b) = (self.seen(inputs[0])?, self.seen(inputs[1])?);
                let count = a.len().min(b.len());
                a.truncate(count);
                ops::add(&mut a, &b[..count]);
                a
            }
            HostKind::BiasAdd => {
                let (mut x, bias) = (self.seen(inputs[0])?, self.seen(inputs[1])?);
                x.truncate(x.len() / bias.len() * bias.len());
                ops::add_bias(&mut x, &bias);
                x
            }
        };
        self.keep(outputs[0], made);
        Ok(())
    }

    /// Appends keys and values, then attends to all that the cache holds.
    fn attend(&mut self, inputs: &[usize], output: usize) -> Vec<f32> {
        let tokens = self.tokens.len();
        let q = self.network(inputs[0], Axis::Queries, tokens);
        let [k, v] = [1, 2].map(|at| self.network(inputs[at], Axis::Keys, tokens));
        self.cache.write(self.layer, self.start, [&k, &v]);
        let config = &self.fills.model().config;
        let mut out = vec![0.0; q.len()];
        let [keys, values] = self.cache.rows(self.layer, self.start + tokens);
        attention(config, &q, keys, values, self.start, true, &mut out);
        self.rows(output).put(&out, Axis::Queries, self.widths())
    }

    /// From the layout of one buffer to that of another.
    fn transpose(&mut self, input: usize, output: usize) -> Vec<f32> {
        let (from, to) = (self.rows(input), self.rows(output));
        let x = self.memory.host(input, self.layer).values(from.count * from.width).to_vec();
        let mut out = vec![0.0; to.count * to.width];
        for row in 0..from.count.min(to.count) {
            for column in 0..from.width.min(to.width) {
                out[to.at(row, column)] = x[from.at(row, column)];
            }
        }
        out
    }

    fn rotate(&mut self, inputs: &[usize]) -> Result<Vec<f32>, SimulateError> {
        let (x, table) = (self.seen(inputs[0])?, self.seen(inputs[1])?);
        let width = self.plan.slots[inputs[1]].buffer.shape.last().copied().unwrap_or(1).max(2);
        let (half, turns) = (width / 2, (table.len() / width).max(1));
        let layout = self.plan.slots[inputs[0]].buffer.layout;
        let heads = (x.len() / width / turns).max(1);
        let mut out = x.clone();
        for (row, (out, x)) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)).enumerate() {
            let turn = match layout {
                Layout::SeqFirst => row / heads,
                Layout::HeadsFirst => row % turns,
            };
            let Some(turn) = table.get(turn * width..(turn + 1) * width) else { continue };
            for j in 0..half {
                let (cos, sin) = (turn[j], turn[half + j]);
                out[j] = x[j] * cos - x[half + j] * sin;
                out[half + j] = x[j] * sin + x[half + j] * cos;
            }
        }
        Ok(out)
    }

    /// All of a buffer as the host sees it; a fill is read where it comes from.
    fn seen(&mut self, slot: usize) -> Result<Vec<f32>, SimulateError> {
        let elements = self.plan.slots[slot].buffer.elements();
        if let Some(content) = self.fill(slot)? {
            return Ok(content.values(elements).to_vec());
        }
        Ok(self.memory.host(slot, self.layer).values(elements).to_vec())
    }

    /// The network's values in the first rows of a buffer, as the host sees them.
    fn network(&mut self, slot: usize, axis: Axis, count: usize) -> Vec<f32> {
        let rows = self.rows(slot);
        let memory = self.memory.host(slot, self.layer).values(rows.count * rows.width).to_vec();
        rows.take(&memory, count.min(rows.count), axis, self.widths())
    }

    fn keep(&mut self, slot: usize, mut made: Vec<f32>) {
        let Slot { buffer, .. } = &self.plan.slots[slot];
        made.resize(buffer.elements(), 0.0);
        if buffer.dtype == Dtype::Bf16 {
            bf16_rne_all(&mut made);
        }
        *self.memory.host(slot, self.layer) = super::content::Content::of(made);
    }
}
