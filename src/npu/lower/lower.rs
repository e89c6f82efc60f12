//! The naive program: one launch a dispatch, all written on each call, attention on the host.

use crate::base::Finding;
use crate::model::Stage;
use crate::npu::array::Array;
use crate::npu::program::{Fill, HostKind, Program, Scope};

use super::build::Build;
use super::layer::layer;
use super::outline::Outline;

/// The program to start from. `seq` counts in prefill alone; a decode call has one token.
///
/// The residual stream is one buffer of the whole model, `hidden`: embedding writes it, every layer
/// reads and writes it, the final norm reads its last row. Findings say where no published tiling
/// fits, and what to pad where none fits at all.
pub fn lower(
    outline: &Outline,
    array: &Array,
    stage: Stage,
    seq: usize,
    capacity: usize,
) -> (Program, Vec<Finding>) {
    let seq = if stage == Stage::Decode { 1 } else { seq.max(1) };
    let mut build = Build::new(outline, array, stage, seq, capacity.max(seq));

    build.buffer("hidden", &[seq, outline.hidden]).scope = Scope::Model;
    let table = build.buffer("rope_table", &[seq, outline.head_dim]);
    table.scope = Scope::Model;
    table.fill = Some(Fill::RopeTable);
    build.host("hidden", Scope::Model, HostKind::Embed, &[]);
    "embed".clone_into(&mut build.program.dispatches[0].name);

    layer(&mut build, outline);

    build.buffer("final_norm", &[1, outline.hidden]).scope = Scope::Model;
    build.buffer("logits", &[1, outline.vocab]).scope = Scope::Model;
    build.host("final_norm", Scope::Model, HostKind::FinalNorm, &["hidden"]);
    build.host("logits", Scope::Model, HostKind::LmHead, &["final_norm"]);
    "lm_head".clone_into(&mut build.program.dispatches.last_mut().expect("just pushed").name);
    (build.program, build.findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npu::check::check;
    use crate::npu::cost::cost;

    fn outline(name: &str, sizes: [usize; 7]) -> Outline {
        let [hidden, intermediate, layers, heads, kv_heads, head_dim, vocab] = sizes;
        let qkv_bias = name.starts_with("qwen2");
        let qk_norm = name.starts_with("qwen3");
        let name = name.to_owned();
        Outline {
            name,
            hidden,
            intermediate,
            layers,
            heads,
            kv_heads,
            head_dim,
            vocab,
            qkv_bias,
            qk_norm,
        }
    }

    /// Name, sizes, compiled sequence.
    fn networks() -> Vec<(Outline, usize)> {
        let of = |name, sizes, seq| (outline(name, sizes), seq);
        vec![
            of("tiny-llama", [128, 256, 4, 2, 1, 64, 512], 512),
            of("tiny-llama-odd", [192, 512, 4, 3, 1, 64, 512], 512),
            of("qwen2-tiny", [128, 256, 4, 2, 1, 64, 512], 512),
            of("qwen3-tiny", [128, 512, 4, 2, 1, 64, 512], 512),
            of("smollm2-135m", [576, 1536, 30, 9, 3, 64, 49152], 512),
            of("llama-3.2-1b", [2048, 8192, 16, 32, 8, 64, 128256], 2048),
            of("llama-3.2-3b", [3072, 8192, 28, 24, 8, 128, 128256], 2048),
            of("smollm2-1.7b", [2048, 8192, 24, 32, 32, 64, 49152], 2048),
            of("qwen2.5-0.5b", [896, 4864, 24, 14, 2, 64, 151936], 2048),
            of("qwen2.5-1.5b", [1536, 8960, 28, 12, 2, 128, 151936], 2048),
            of("qwen2.5-3b", [2048, 11008, 36, 16, 2, 128, 151936], 2048),
            of("qwen3-0.6b", [1024, 3072, 28, 16, 8, 128, 151936], 2048),
            of("qwen3-1.7b", [2048, 6144, 28, 16, 8, 128, 151936], 2048),
            of("qwen3-4b", [2560, 9728, 36, 32, 8, 128, 151936], 2048),
        ]
    }

    #[test]
    fn naive_programs_are_legal() {
        let array = Array::xdna2();
        for (outline, seq) in networks() {
            for stage in Stage::ALL {
                let (program, findings) = lower(&outline, &array, stage, seq, 2 * seq);
                for finding in &findings {
                    assert!(!finding.is_error(), "{} {stage}: {finding}", outline.name);
                }
                for finding in check(&program, &array) {
                    assert!(!finding.is_error(), "{} {stage}: {finding}", outline.name);
                }
                let profile = cost(&program, &array, 64);
                eprintln!(
                    "{} {stage} {:.0} us {:?} notes {}",
                    outline.name,
                    profile.total_us(),
                    profile.cost,
                    findings.len()
                );
            }
        }
    }

    #[test]
    fn a_layer_is_a_number_of_dispatches() {
        let array = Array::xdna2();
        for (name, expected) in [("llama", 15), ("qwen2", 18), ("qwen3", 17)] {
            let outline = outline(name, [128, 256, 4, 2, 1, 64, 512]);
            for stage in Stage::ALL {
                let (program, _) = lower(&outline, &array, stage, 512, 1024);
                assert_eq!(program.dispatches_per_layer(), expected, "{name} {stage}");
            }
        }
    }
}
