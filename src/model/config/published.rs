//! The nine published models, as facts: their shapes without their weights.

use crate::model::{Config, Family, RopeScaling};

/// Name, family, hidden, intermediate, layers, heads, kv heads, head_dim, vocab, eps, theta, positions.
type Line = (&'static str, Family, [usize; 7], f32, f64, usize);

const TABLE: [Line; 9] = [
    ("llama-3.2-1b", Family::Llama, [2048, 8192, 16, 32, 8, 64, 128256], 1e-5, 5e5, 131072),
    ("llama-3.2-3b", Family::Llama, [3072, 8192, 28, 24, 8, 128, 128256], 1e-5, 5e5, 131072),
    ("smollm2-1.7b", Family::Llama, [2048, 8192, 24, 32, 32, 64, 49152], 1e-5, 1.3e5, 8192),
    ("qwen2.5-0.5b", Family::Qwen2, [896, 4864, 24, 14, 2, 64, 151936], 1e-6, 1e6, 32768),
    ("qwen2.5-1.5b", Family::Qwen2, [1536, 8960, 28, 12, 2, 128, 151936], 1e-6, 1e6, 32768),
    ("qwen2.5-3b", Family::Qwen2, [2048, 11008, 36, 16, 2, 128, 151936], 1e-6, 1e6, 32768),
    ("qwen3-0.6b", Family::Qwen3, [1024, 3072, 28, 16, 8, 128, 151936], 1e-6, 1e6, 40960),
    ("qwen3-1.7b", Family::Qwen3, [2048, 6144, 28, 16, 8, 128, 151936], 1e-6, 1e6, 40960),
    ("qwen3-4b", Family::Qwen3, [2560, 9728, 36, 32, 8, 128, 151936], 1e-6, 1e6, 40960),
];

pub fn published_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|line| line.0)
}

/// The shape of a published model (instruct variant) by its short name.
pub fn published(name: &str) -> Option<Config> {
    let (name, family, sizes, norm_eps, rope_theta, max_positions) =
        TABLE.into_iter().find(|line| line.0.eq_ignore_ascii_case(name))?;
    let [hidden, intermediate, layers, heads, kv_heads, head_dim, vocab] = sizes;
    let llama3 = name.starts_with("llama-3.2");
    let (bos, eos) = match family {
        _ if llama3 => (128000, vec![128001, 128008, 128009]),
        Family::Llama | Family::Mistral => (1, vec![2]),
        Family::Qwen2 | Family::Qwen3 => (151643, vec![151645]),
    };
    let rope_scaling = if llama3 {
        RopeScaling::Llama3 {
            factor: 32.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original: 8192,
        }
    } else {
        RopeScaling::None
    };
    Some(Config {
        family,
        hidden,
        intermediate,
        layers,
        heads,
        kv_heads,
        head_dim,
        vocab,
        norm_eps,
        rope_theta,
        rope_scaling,
        tied: true,
        qkv_bias: family == Family::Qwen2,
        qk_norm: family == Family::Qwen3,
        max_positions,
        bos: Some(bos),
        eos,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_advertised_ones() {
        let check = |name: &str, millions: usize| {
            let parameters = published(name).unwrap().parameters();
            assert_eq!(parameters / 1_000_000, millions, "{name}");
        };
        check("llama-3.2-1b", 1235);
        check("smollm2-1.7b", 1711);
        check("qwen2.5-0.5b", 494);
        check("qwen3-0.6b", 596);
        assert!(published("llama-4").is_none());
        assert_eq!(published_names().count(), 9);
    }
}
