//! The same shape from the metadata of a GGUF file.

use crate::model::weights::{Gguf, Value};
use crate::model::{Config, Family, ModelError, RopeScaling};

impl Config {
    pub(in crate::model) fn from_gguf(file: &Gguf, place: &str) -> Result<Self, ModelError> {
        let factors = file.values("rope_freqs.weight");
        let keys = Keys::of(file, place)?;
        let heads = keys.size("attention.head_count")?;
        let hidden = keys.size("embedding_length")?;
        let vocab = match keys.optional("vocab_size") {
            Some(_) => keys.size("vocab_size")?,
            None => file.texts("tokenizer.ggml.tokens").map_or(0, <[String]>::len),
        };
        let id = |name: &str| file.unsigned(name).and_then(|id| u32::try_from(id).ok());
        let mut eos: Vec<u32> = id("tokenizer.ggml.eos_token_id").into_iter().collect();
        eos.extend(id("tokenizer.ggml.eot_token_id").filter(|eot| !eos.contains(eot)));
        let derived = hidden.checked_div(heads).unwrap_or(0);
        Self {
            family: keys.family,
            hidden,
            intermediate: keys.size("feed_forward_length")?,
            layers: keys.size("block_count")?,
            heads,
            kv_heads: keys.size_or("attention.head_count_kv", heads)?,
            head_dim: keys.size_or("attention.key_length", derived)?,
            vocab,
            norm_eps: keys.number("attention.layer_norm_rms_epsilon")? as f32,
            rope_theta: keys.number_or("rope.freq_base", 10_000.0)?,
            rope_scaling: factors.map_or(RopeScaling::None, RopeScaling::Factors),
            tied: !file.has_tensor("output.weight"),
            qkv_bias: keys.family == Family::Qwen2,
            qk_norm: keys.family == Family::Qwen3,
            max_positions: keys.size("context_length")?,
            bos: id("tokenizer.ggml.bos_token_id"),
            eos,
        }
        .validated(place)
    }
}

struct Keys<'a> {
    file: &'a Gguf,
    family: Family,
    prefix: String,
    place: &'a str,
}

impl<'a> Keys<'a> {
    fn of(file: &'a Gguf, place: &'a str) -> Result<Self, ModelError> {
        let prefix = file.text("general.architecture").ok_or_else(|| ModelError::Missing {
            place: place.into(),
            what: "`general.architecture`".into(),
            hint: "convert the checkpoint again with a current converter".into(),
        })?;
        let keys = Self { file, family: Family::Llama, prefix: prefix.to_owned(), place };
        keys.refuse_out_of_scope()?;
        let family = Family::parse(prefix).ok_or_else(|| {
            let reason = format!("architecture `{prefix}` is not llama, mistral, qwen2 or qwen3");
            ModelError::out_of_scope(place, reason)
        })?;
        Ok(Self { family, ..keys })
    }

    fn refuse_out_of_scope(&self) -> Result<(), ModelError> {
        let refuse = |reason: String| Err(ModelError::out_of_scope(self.place, reason));
        let size = |name: &str| self.optional(name).and_then(Value::as_unsigned).unwrap_or(0);
        if size("expert_count") > 0 {
            return refuse(format!("a mixture of {} experts", size("expert_count")));
        }
        if size("attention.kv_lora_rank") > 0 {
            return refuse("multi-head latent attention".into());
        }
        let (window, reaches) = (size("attention.sliding_window"), size("context_length"));
        if window > 0 && window < reaches {
            return refuse(format!("a sliding window of {window} positions is enabled"));
        }
        if matches!(self.prefix.as_str(), "t5" | "t5encoder" | "bert") {
            return refuse(format!("`{}` is not a decoder", self.prefix));
        }
        match self.optional("rope.scaling.type").and_then(Value::as_text) {
            None | Some("none" | "") => Ok(()),
            Some(kind) => refuse(format!("rope scaling `{kind}`; plain and `llama3` are in scope")),
        }
    }

    fn optional(&self, name: &str) -> Option<&'a Value> {
        self.file.get(&format!("{}.{name}", self.prefix))
    }

    fn missing(&self, name: &str) -> ModelError {
        ModelError::Missing {
            place: self.place.into(),
            what: format!("`{}.{name}`", self.prefix),
            hint: "convert the checkpoint again with a current converter".into(),
        }
    }

    fn size(&self, name: &str) -> Result<usize, ModelError> {
        let value = self.optional(name).ok_or_else(|| self.missing(name))?;
        let size = value.as_unsigned().and_then(|size| usize::try_from(size).ok());
        let wrong = || format!("`{}.{name}` is not a whole number", self.prefix);
        size.ok_or_else(|| ModelError::broken(self.place, wrong()))
    }

    fn size_or(&self, name: &str, otherwise: usize) -> Result<usize, ModelError> {
        if self.optional(name).is_some() { self.size(name) } else { Ok(otherwise) }
    }

    fn number(&self, name: &str) -> Result<f64, ModelError> {
        let value = self.optional(name).ok_or_else(|| self.missing(name))?;
        let wrong = || format!("`{}.{name}` is not a number", self.prefix);
        value.as_number().ok_or_else(|| ModelError::broken(self.place, wrong()))
    }

    fn number_or(&self, name: &str, otherwise: f64) -> Result<f64, ModelError> {
        if self.optional(name).is_some() { self.number(name) } else { Ok(otherwise) }
    }
}
