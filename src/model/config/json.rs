//! Reading a Hugging Face `config.json`, and refusing what is out of scope with the reason.

use serde_json::{Map, Value};

use crate::base::nearest;
use crate::model::{Config, Family, ModelError, RopeScaling};

impl Config {
    /// `place` is the file's name, for errors.
    pub fn from_json(text: &str, place: &str) -> Result<Self, ModelError> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| ModelError::broken(place, format!("not JSON: {error}")))?;
        let Value::Object(fields) = value else {
            return Err(ModelError::broken(place, "not a JSON object"));
        };
        let fields = Fields { fields: &fields, place };
        fields.refuse_out_of_scope()?;
        let family = fields.family()?;
        let heads = fields.size("num_attention_heads")?;
        let hidden = fields.size("hidden_size")?;
        Self {
            family,
            hidden,
            intermediate: fields.size("intermediate_size")?,
            layers: fields.size("num_hidden_layers")?,
            heads,
            kv_heads: fields.optional_size("num_key_value_heads")?.unwrap_or(heads),
            head_dim: fields.head_dim(hidden, heads)?,
            vocab: fields.size("vocab_size")?,
            norm_eps: fields.number("rms_norm_eps")? as f32,
            rope_theta: fields.rope_theta()?,
            rope_scaling: fields.rope_scaling()?,
            tied: fields.flag("tie_word_embeddings"),
            qkv_bias: family == Family::Qwen2,
            qk_norm: family == Family::Qwen3,
            max_positions: fields.size("max_position_embeddings")?,
            bos: fields.ids("bos_token_id").first().copied(),
            eos: fields.ids("eos_token_id"),
        }
        .validated(place)
    }
}

struct Fields<'a> {
    fields: &'a Map<String, Value>,
    place: &'a str,
}

impl Fields<'_> {
    /// A field that is there and not null.
    fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    fn missing(&self, name: &str) -> ModelError {
        let known = self.fields.keys().map(String::as_str);
        let hint = match nearest(name, known) {
            Some(near) => format!("there is a `{near}`; the field is called `{name}`"),
            None => format!("add `{name}` from the model's original config"),
        };
        ModelError::Missing { place: self.place.into(), what: format!("`{name}`"), hint }
    }

    fn wrong(&self, name: &str, expected: &str) -> ModelError {
        ModelError::broken(self.place, format!("`{name}` is not {expected}"))
    }

    fn optional_size(&self, name: &str) -> Result<Option<usize>, ModelError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
        size.map(Some).ok_or_else(|| self.wrong(name, "a whole number"))
    }

    fn size(&self, name: &str) -> Result<usize, ModelError> {
        self.optional_size(name)?.ok_or_else(|| self.missing(name))
    }

    fn number(&self, name: &str) -> Result<f64, ModelError> {
        let value = self.get(name).ok_or_else(|| self.missing(name))?;
        value.as_f64().ok_or_else(|| self.wrong(name, "a number"))
    }

    /// One id or a list of them; no field, no ids.
    fn ids(&self, name: &str) -> Vec<u32> {
        let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
        match self.get(name) {
            Some(Value::Array(ids)) => ids.iter().filter_map(id).collect(),
            Some(value) => id(value).into_iter().collect(),
            None => Vec::new(),
        }
    }

    fn head_dim(&self, hidden: usize, heads: usize) -> Result<usize, ModelError> {
        match self.optional_size("head_dim")? {
            Some(head_dim) => Ok(head_dim),
            None if heads > 0 && hidden.is_multiple_of(heads) => Ok(hidden / heads),
            None => Err(ModelError::Missing {
                place: self.place.into(),
                what: "`head_dim`".into(),
                hint: format!("it cannot be derived: {hidden} wide over {heads} heads"),
            }),
        }
    }

    fn family(&self) -> Result<Family, ModelError> {
        let model_type = self.text("model_type").ok_or_else(|| self.missing("model_type"))?;
        Family::parse(model_type).ok_or_else(|| {
            let reason = format!("model type `{model_type}` is not llama, mistral, qwen2 or qwen3");
            ModelError::out_of_scope(self.place, reason)
        })
    }

    /// Newer files nest everything about rotation in `rope_parameters`.
    fn rope(&self) -> Option<&Map<String, Value>> {
        let nested = |name| self.get(name).and_then(Value::as_object);
        nested("rope_parameters").or_else(|| nested("rope_scaling"))
    }

    fn rope_theta(&self) -> Result<f64, ModelError> {
        let nested = self.rope().and_then(|rope| rope.get("rope_theta")).and_then(Value::as_f64);
        match (self.get("rope_theta"), nested) {
            (None, Some(theta)) => Ok(theta),
            _ => self.number("rope_theta"),
        }
    }

    fn rope_scaling(&self) -> Result<RopeScaling, ModelError> {
        let Some(rope) = self.rope() else {
            return Ok(RopeScaling::None);
        };
        let kind = rope.get("rope_type").or_else(|| rope.get("type")).and_then(Value::as_str);
        let number = |name: &str| {
            rope.get(name).and_then(Value::as_f64).ok_or_else(|| ModelError::Missing {
                place: self.place.into(),
                what: format!("`rope_scaling.{name}`"),
                hint: "`llama3` scaling needs four numbers".into(),
            })
        };
        match kind {
            None | Some("default") => Ok(RopeScaling::None),
            Some("llama3") => Ok(RopeScaling::Llama3 {
                factor: number("factor")?,
                low_freq_factor: number("low_freq_factor")?,
                high_freq_factor: number("high_freq_factor")?,
                original: number("original_max_position_embeddings")? as usize,
            }),
            Some(other) => Err(ModelError::out_of_scope(
                self.place,
                format!("rope scaling `{other}`; plain and `llama3` are in scope"),
            )),
        }
    }

    fn refuse_out_of_scope(&self) -> Result<(), ModelError> {
        let refuse = |reason: String| Err(ModelError::out_of_scope(self.place, reason));
        if self.flag("is_encoder_decoder") || self.text("model_type") == Some("t5") {
            return refuse("an encoder-decoder; only decoders are deployed".into());
        }
        for name in ["num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"] {
            if let Some(experts) = self.get(name).and_then(Value::as_u64)
                && experts > 1
            {
                return refuse(format!("a mixture of {experts} experts (`{name}`)"));
            }
        }
        for name in ["kv_lora_rank", "q_lora_rank"] {
            if self.get(name).is_some() {
                return refuse(format!("multi-head latent attention (`{name}`)"));
            }
        }
        self.refuse_window()?;
        for name in ["attention_bias", "mlp_bias"] {
            if self.flag(name) {
                return refuse(format!("biases where its family has none (`{name}`)"));
            }
        }
        if let Some(act) = self.text("hidden_act")
            && act != "silu"
            && act != "swish"
        {
            return refuse(format!("activation `{act}`; SiLU is in scope"));
        }
        if let Some(part) = self.get("partial_rotary_factor").and_then(Value::as_f64)
            && part != 1.0
        {
            return refuse(format!("rotation of a part ({part}) of each head"));
        }
        if let Some(quantised) = self.get("quantization_config") {
            let method = quantised.get("quant_method").and_then(Value::as_str).unwrap_or("unnamed");
            return Err(ModelError::Unsupported {
                place: self.place.into(),
                what: format!("quantisation `{method}` of a safetensors checkpoint"),
                hint: "take the F32, F16 or BF16 checkpoint, or a GGUF file".into(),
            });
        }
        Ok(())
    }

    /// A window that no position reaches is no window. Qwen names one and turns it off.
    fn refuse_window(&self) -> Result<(), ModelError> {
        let refuse = |reason: String| Err(ModelError::out_of_scope(self.place, reason));
        let sliding = |kind: &Value| kind.as_str().is_some_and(|kind| kind.contains("sliding"));
        if let Some(kinds) = self.get("layer_types").and_then(Value::as_array)
            && kinds.iter().any(sliding)
        {
            return refuse("layers with a sliding window (`layer_types`)".into());
        }
        let Some(window) = self.get("sliding_window").and_then(Value::as_u64) else {
            return Ok(());
        };
        let switch = self.get("use_sliding_window").and_then(Value::as_bool);
        let on = switch.unwrap_or_else(|| self.text("model_type") == Some("mistral"));
        let reaches =
            self.get("max_position_embeddings").and_then(Value::as_u64).unwrap_or(u64::MAX);
        if on && window < reaches {
            return refuse(format!("a sliding window of {window} positions is enabled"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = r#"{"model_type":"llama","hidden_size":64,"intermediate_size":160,
        "num_hidden_layers":3,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":320,
        "rms_norm_eps":1e-5,"rope_theta":10000.0,"max_position_embeddings":2048,
        "eos_token_id":[2,3],"bos_token_id":1}"#;

    fn with(extra: &str) -> String {
        let mut fields: Map<String, Value> = serde_json::from_str(PLAIN).unwrap();
        fields.extend(serde_json::from_str::<Map<String, Value>>(extra).unwrap());
        serde_json::to_string(&fields).unwrap()
    }

    #[test]
    fn a_plain_config_is_resolved() {
        let config = Config::from_json(PLAIN, "config.json").unwrap();
        assert_eq!((config.head_dim, config.group(), config.tied), (16, 2, false));
        assert_eq!((config.bos, config.eos), (Some(1), vec![2, 3]));
        let nested =
            r#"{"rope_theta":null,"rope_parameters":{"rope_type":"default","rope_theta":5e5}}"#;
        assert_eq!(Config::from_json(&with(nested), "c").unwrap().rope_theta, 5e5);
    }

    #[test]
    fn what_is_out_of_scope_is_refused_with_the_reason() {
        let check = |extra: &str, reason: &str| {
            let error = Config::from_json(&with(extra), "config.json").unwrap_err();
            let text = error.to_string();
            assert!(text.contains(reason) && text.contains("config.json"), "{text}");
            assert!(!error.hint().is_empty());
        };
        check(r#"{"num_local_experts":8}"#, "mixture of 8 experts");
        check(r#"{"num_experts":60}"#, "mixture of 60 experts");
        check(r#"{"kv_lora_rank":512}"#, "latent attention");
        check(r#"{"is_encoder_decoder":true}"#, "encoder-decoder");
        check(r#"{"model_type":"mistral","sliding_window":1024}"#, "sliding window of 1024");
        check(r#"{"use_sliding_window":true,"sliding_window":512}"#, "sliding window of 512");
        check(r#"{"model_type":"gemma2"}"#, "`gemma2`");
        check(r#"{"hidden_act":"gelu"}"#, "`gelu`");
        check(r#"{"rope_scaling":{"rope_type":"yarn"}}"#, "`yarn`");
        check(r#"{"quantization_config":{"quant_method":"awq"}}"#, "`awq`");
        check(r#"{"vocab_size":null}"#, "`vocab_size` is missing");
        check(r#"{"vocab_size":null,"vocab_sizes":3}"#, "`vocab_size` is missing");
        check(r#"{"hidden_size":"big"}"#, "`hidden_size` is not a whole number");
        check(r#"{"num_key_value_heads":3}"#, "4 heads do not share 3");
        check(r#"{"hidden_size":65}"#, "`head_dim` is missing");
    }

    #[test]
    fn a_window_that_is_off_or_never_reached_is_no_window() {
        let fine = |extra: &str| assert!(Config::from_json(&with(extra), "c").is_ok(), "{extra}");
        fine(r#"{"model_type":"qwen2","sliding_window":512,"use_sliding_window":false}"#);
        fine(r#"{"model_type":"mistral","sliding_window":null}"#);
        fine(r#"{"model_type":"mistral","sliding_window":4096}"#);
    }
}
