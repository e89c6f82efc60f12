//! Causal attention over a KV cache, with query heads sharing keys in groups.

use rayon::prelude::*;

use crate::model::Config;
use crate::tensor::{Gemm, ops};

/// Queries that one task takes: few enough that the mask saves work, enough for a good product.
const QUERIES: usize = 32;

/// `out[m, heads · head_dim]`: query `i` sits at position `start + i` and sees what is not after it.
///
/// Keys and values are `[start + m, kv_heads · head_dim]`.
pub fn attention(
    config: &Config,
    q: &[f32],
    keys: &[f32],
    values: &[f32],
    start: usize,
    masked: bool,
    out: &mut [f32],
) {
    let width = config.q_width();
    let all = keys.len() / config.kv_width();
    let tasks = out.par_chunks_mut(QUERIES * width).zip(q.par_chunks(QUERIES * width));
    tasks.enumerate().for_each(|(task, (out, q))| {
        let first = start + task * QUERIES;
        let rows = q.len() / width;
        let seen = if masked { first + rows } else { all };
        let mut scores = vec![0.0; rows * seen];
        for head in 0..config.heads {
            let offset = head / config.group() * config.head_dim;
            let mut block = Block { config, head, seen, rows, scores: &mut scores };
            block.score(q, &keys[offset..]);
            block.soften(|row| if masked { first + row + 1 } else { all });
            block.mix(&values[offset..], out);
        }
    });
}

/// One head of one task.
struct Block<'a> {
    config: &'a Config,
    head: usize,
    seen: usize,
    rows: usize,
    scores: &'a mut [f32],
}

impl Block<'_> {
    /// `scores[row, position] = q · k / √head_dim`
    fn score(&mut self, q: &[f32], keys: &[f32]) {
        let (c, d) = (self.config, self.config.head_dim);
        Gemm {
            m: self.rows,
            n: self.seen,
            k: d,
            x: (&q[self.head * d..], c.q_width(), 1),
            w: (keys, 1, c.kv_width()),
            out_stride: self.seen,
            scale: 1.0 / (d as f32).sqrt(),
        }
        .serial(self.scores);
    }

    /// Softmax over the positions that each row sees; the others count nothing.
    fn soften(&mut self, sees: impl Fn(usize) -> usize) {
        for (row, scores) in self.scores.chunks_exact_mut(self.seen).enumerate() {
            let (seen, hidden) = scores.split_at_mut(sees(row));
            ops::softmax(seen);
            hidden.fill(0.0);
        }
    }

    /// `out[row] = Σ scores[row, position] · value[position]`
    fn mix(&self, values: &[f32], out: &mut [f32]) {
        let (c, d) = (self.config, self.config.head_dim);
        Gemm {
            m: self.rows,
            n: d,
            k: self.seen,
            x: (self.scores, self.seen, 1),
            w: (values, c.kv_width(), 1),
            out_stride: c.q_width(),
            scale: 1.0,
        }
        .serial(&mut out[self.head * d..]);
    }
}
