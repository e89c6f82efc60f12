//! `npu floor`: what no program for a network can go below.

use clap::Args;
use serde_json::json;

use super::output;
use super::shape::shape;
use crate::model::Stage;
use crate::npu::{Array, floor};

/// Lower bounds of a network: bytes and operations alone
#[derive(Args)]
pub(super) struct Floors {
    /// A bundled or published name, a folder or a file
    model: String,
    /// Prompt tokens of prefill
    #[arg(long, value_name = "N", default_value_t = 512)]
    seq: usize,
    /// Tokens that a decode call attends to
    #[arg(long, value_name = "N", default_value_t = 64)]
    context: usize,
    #[arg(long)]
    json: bool,
}

impl Floors {
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let outline = shape(&self.model)?;
        let array = Array::xdna2();
        let prefill = floor(&outline, &array, Stage::Prefill, self.seq);
        let decode = floor(&outline, &array, Stage::Decode, self.context);
        if self.json {
            output::json(&json!({
                "model": outline.name, "seq": self.seq, "context": self.context,
                "prefill": prefill, "decode": decode,
                "ttft_s": prefill.total_us() / 1e6, "tpot_ms": decode.total_us() / 1e3,
            }))?;
            return Ok(0);
        }
        for (stage, tokens, floor) in
            [(Stage::Prefill, self.seq, prefill), (Stage::Decode, self.context, decode)]
        {
            let bound = if floor.compute_us > floor.memory_us { "operations" } else { "bytes" };
            output::say(&format!(
                "{stage} at {tokens} tokens: at least {:.3} ms, bound by {bound} ({:.3} GFLOP, {:.1} MB)",
                floor.total_us() / 1e3,
                floor.flops / 1e9,
                floor.bytes / 1e6,
            ));
        }
        Ok(0)
    }
}
