//! The FP32 oracle: the network as its paper defines it, with every intermediate on request.

use std::sync::Arc;

use crate::model::attention::attention;
use crate::model::{Cache, Config, Model, ModelError, Role};
use crate::tensor::{Rope, Tap, Tensor, matmul, ops};

/// Which positions' logits are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logits {
    Last,
    All,
}

/// A deliberate mistake, so that a gate can show that it would see one.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The named intermediate is multiplied.
    Scale { at: String, by: f32 },
    /// Each row of the named intermediate is turned by one element.
    Roll { at: String },
    /// Every query sees every position.
    Unmasked,
    /// Queries and keys stay as they are.
    Unrotated,
}

pub struct Oracle {
    model: Arc<Model>,
    embed: Arc<Tensor>,
    /// Empty where weights are drawn for each use: then each pass loads a layer at a time.
    layers: Vec<Arc<Layer>>,
    output_norm: Arc<Tensor>,
    head: Arc<Tensor>,
    inverse: Vec<f64>,
    fault: Option<Fault>,
}

struct Layer {
    attn_norm: Arc<Tensor>,
    q: Linear,
    k: Linear,
    v: Linear,
    q_norm: Option<Arc<Tensor>>,
    k_norm: Option<Arc<Tensor>>,
    o: Arc<Tensor>,
    ffn_norm: Arc<Tensor>,
    gate: Arc<Tensor>,
    up: Arc<Tensor>,
    down: Arc<Tensor>,
}

struct Linear {
    weight: Arc<Tensor>,
    bias: Option<Arc<Tensor>>,
}

impl Oracle {
    /// Dequantises every weight, or only the embedding where weights are drawn for each use.
    pub fn new(model: Arc<Model>) -> Result<Self, ModelError> {
        let whole = |role| model.weights.get(role, None);
        let kept = if model.weights.is_streamed() { 0 } else { model.config.layers };
        let layers = (0..kept).map(|index| Layer::load(&model, index).map(Arc::new));
        let embed = whole(Role::Embed)?;
        let head = if model.config.tied { Arc::clone(&embed) } else { whole(Role::Output)? };
        Ok(Self {
            embed,
            layers: layers.collect::<Result<_, _>>()?,
            output_norm: whole(Role::OutputNorm)?,
            head,
            inverse: model.config.inverse_frequencies(),
            fault: None,
            model,
        })
    }

    /// The same oracle with a mistake in it.
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    fn layer(&self, index: usize) -> Result<Arc<Layer>, ModelError> {
        match self.layers.get(index) {
            Some(layer) => Ok(Arc::clone(layer)),
            None => Layer::load(&self.model, index).map(Arc::new),
        }
    }

    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    pub fn config(&self) -> &Config {
        &self.model.config
    }

    /// Runs tokens after what the cache holds, which may be nothing. Logits are `[1 or tokens, vocab]`.
    pub fn prefill(
        &self,
        tokens: &[u32],
        logits: Logits,
        cache: &mut Cache,
        tap: &mut dyn Tap,
    ) -> Result<Tensor, ModelError> {
        self.accepts(tokens, cache)?;
        Pass::new(self, tokens, cache, tap).run(logits)
    }

    /// One token after what the cache holds; its logits.
    pub fn step(
        &self,
        token: u32,
        cache: &mut Cache,
        tap: &mut dyn Tap,
    ) -> Result<Vec<f32>, ModelError> {
        Ok(self.prefill(&[token], Logits::Last, cache, tap)?.data)
    }

    fn accepts(&self, tokens: &[u32], cache: &Cache) -> Result<(), ModelError> {
        let config = self.config();
        if tokens.is_empty() {
            return Err(ModelError::input(
                "no tokens to run",
                "give a prompt of at least one token",
            ));
        }
        if let Some(id) = tokens.iter().find(|id| **id as usize >= config.vocab) {
            let message = format!("token id {id} is outside the vocabulary of {}", config.vocab);
            return Err(ModelError::input(message, "encode the text with the model's tokenizer"));
        }
        let end = cache.len() + tokens.len();
        let most = cache.capacity().min(config.max_positions);
        if end > most {
            let message = format!("{end} positions do not fit: there is room for {most}");
            return Err(ModelError::input(message, "shorten the prompt or ask for fewer tokens"));
        }
        Ok(())
    }
}

impl Layer {
    fn load(model: &Model, index: usize) -> Result<Self, ModelError> {
        let get = |role| model.weights.get(role, Some(index));
        let some = |role: Role| role.is_in(&model.config).then(|| get(role)).transpose();
        let linear = |weight, bias| Ok(Linear { weight: get(weight)?, bias: some(bias)? });
        Ok(Self {
            attn_norm: get(Role::AttnNorm)?,
            q: linear(Role::Q, Role::QBias)?,
            k: linear(Role::K, Role::KBias)?,
            v: linear(Role::V, Role::VBias)?,
            q_norm: some(Role::QNorm)?,
            k_norm: some(Role::KNorm)?,
            o: get(Role::O)?,
            ffn_norm: get(Role::FfnNorm)?,
            gate: get(Role::Gate)?,
            up: get(Role::Up)?,
            down: get(Role::Down)?,
        })
    }
}

/// One run of some tokens through the network, with the buffers that the layers share.
struct Pass<'a> {
    oracle: &'a Oracle,
    config: &'a Config,
    tokens: &'a [u32],
    cache: &'a mut Cache,
    tap: &'a mut dyn Tap,
    rope: Rope,
    /// The residual stream, `[tokens, hidden]`.
    x: Vec<f32>,
    normed: Vec<f32>,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    attn: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    /// What a block adds to the residual stream.
    added: Vec<f32>,
}

impl<'a> Pass<'a> {
    fn new(
        oracle: &'a Oracle,
        tokens: &'a [u32],
        cache: &'a mut Cache,
        tap: &'a mut dyn Tap,
    ) -> Self {
        let config = oracle.config();
        let zeros = |width: usize| vec![0.0; tokens.len() * width];
        Self {
            rope: Rope::new(&oracle.inverse, cache.len()..cache.len() + tokens.len()),
            x: zeros(config.hidden),
            normed: zeros(config.hidden),
            q: zeros(config.q_width()),
            k: zeros(config.kv_width()),
            v: zeros(config.kv_width()),
            attn: zeros(config.q_width()),
            gate: zeros(config.intermediate),
            up: zeros(config.intermediate),
            added: zeros(config.hidden),
            oracle,
            config,
            tokens,
            cache,
            tap,
        }
    }

    fn run(mut self, logits: Logits) -> Result<Tensor, ModelError> {
        let hidden = self.config.hidden;
        for (row, id) in self.x.chunks_exact_mut(hidden).zip(self.tokens) {
            row.copy_from_slice(self.oracle.embed.row(*id as usize));
        }
        self.shown("", "embed", |pass| &mut pass.x, hidden);
        for index in 0..self.config.layers {
            let layer = self.oracle.layer(index)?;
            let place = format!("layers.{index}.");
            self.attend(index, &layer, &place);
            self.feed_forward(&layer, &place);
        }
        self.cache.advance(self.tokens.len());
        Ok(self.head(logits))
    }

    /// Norm, projections, QK-norm, rotation, attention, output projection, residual.
    fn attend(&mut self, index: usize, layer: &Layer, place: &str) {
        let (c, m) = (self.config, self.tokens.len());
        ops::rms_norm(&self.x, &layer.attn_norm.data, c.norm_eps, &mut self.normed);
        self.shown(place, "attn_norm", |pass| &mut pass.normed, c.hidden);
        self.project(place, ["q_proj", "q"], &layer.q, |pass| &mut pass.q);
        self.project(place, ["k_proj", "k"], &layer.k, |pass| &mut pass.k);
        self.project(place, ["v_proj", "v"], &layer.v, |pass| &mut pass.v);
        if let Some(norm) = &layer.q_norm {
            ops::rms_norm_in_place(&mut self.q, &norm.data, c.norm_eps);
            self.shown(place, "q_norm", |pass| &mut pass.q, c.q_width());
        }
        if let Some(norm) = &layer.k_norm {
            ops::rms_norm_in_place(&mut self.k, &norm.data, c.norm_eps);
            self.shown(place, "k_norm", |pass| &mut pass.k, c.kv_width());
        }
        if self.oracle.fault != Some(Fault::Unrotated) {
            let start = self.cache.len();
            self.rope.apply_rows(&mut self.q, c.q_width(), start);
            self.rope.apply_rows(&mut self.k, c.kv_width(), start);
        }
        self.shown(place, "q_rope", |pass| &mut pass.q, c.q_width());
        self.shown(place, "k_rope", |pass| &mut pass.k, c.kv_width());
        let masked = self.oracle.fault != Some(Fault::Unmasked);
        let start = self.cache.len();
        let (keys, values) = self.cache.extend(index, &self.k, &self.v);
        attention(c, &self.q, keys, values, start, masked, &mut self.attn);
        self.shown(place, "attn", |pass| &mut pass.attn, c.q_width());
        matmul(&self.attn, &layer.o.data, &mut self.added, m, c.q_width());
        self.shown(place, "o", |pass| &mut pass.added, c.hidden);
        ops::add(&mut self.x, &self.added);
        self.shown(place, "attn_out", |pass| &mut pass.x, c.hidden);
    }

    fn project(
        &mut self,
        place: &str,
        [before, after]: [&str; 2],
        linear: &Linear,
        out: fn(&mut Self) -> &mut Vec<f32>,
    ) {
        let width = linear.weight.rows();
        let mut product = std::mem::take(out(self));
        let (m, k) = (self.tokens.len(), self.config.hidden);
        matmul(&self.normed, &linear.weight.data, &mut product, m, k);
        *out(self) = product;
        if let Some(bias) = &linear.bias {
            self.shown(place, before, out, width);
            ops::add_bias(out(self), &bias.data);
        }
        self.shown(place, after, out, width);
    }

    /// Norm, gate and up, SiLU, down, residual.
    fn feed_forward(&mut self, layer: &Layer, place: &str) {
        let (c, m) = (self.config, self.tokens.len());
        ops::rms_norm(&self.x, &layer.ffn_norm.data, c.norm_eps, &mut self.normed);
        self.shown(place, "ffn_norm", |pass| &mut pass.normed, c.hidden);
        matmul(&self.normed, &layer.gate.data, &mut self.gate, m, c.hidden);
        self.shown(place, "gate", |pass| &mut pass.gate, c.intermediate);
        matmul(&self.normed, &layer.up.data, &mut self.up, m, c.hidden);
        self.shown(place, "up", |pass| &mut pass.up, c.intermediate);
        ops::silu_mul(&mut self.gate, &self.up);
        self.shown(place, "silu_mul", |pass| &mut pass.gate, c.intermediate);
        matmul(&self.gate, &layer.down.data, &mut self.added, m, c.intermediate);
        self.shown(place, "down", |pass| &mut pass.added, c.hidden);
        ops::add(&mut self.x, &self.added);
        self.shown(place, "hidden", |pass| &mut pass.x, c.hidden);
    }

    /// The final norm of every position, and the logits of those that are wanted.
    fn head(&mut self, logits: Logits) -> Tensor {
        let c = self.config;
        let norm = &self.oracle.output_norm.data;
        ops::rms_norm(&self.x, norm, c.norm_eps, &mut self.normed);
        self.shown("", "final_norm", |pass| &mut pass.normed, c.hidden);
        let m = if logits == Logits::All { self.tokens.len() } else { 1 };
        let from = self.normed.len() - m * c.hidden;
        let mut out = Tensor::zeros([m, c.vocab]);
        matmul(&self.normed[from..], &self.oracle.head.data, &mut out.data, m, c.hidden);
        show(self.oracle.fault.as_ref(), self.tap, "", "logits", &mut out.data, c.vocab);
        out
    }

    fn shown(&mut self, place: &str, name: &str, of: fn(&mut Self) -> &mut Vec<f32>, width: usize) {
        if self.tap.idle() && self.oracle.fault.is_none() {
            return;
        }
        let mut values = std::mem::take(of(self));
        show(self.oracle.fault.as_ref(), self.tap, place, name, &mut values, width);
        *of(self) = values;
    }
}

/// Offers an intermediate to the tap; a fault that sits there is applied first.
fn show(
    fault: Option<&Fault>,
    tap: &mut dyn Tap,
    place: &str,
    name: &str,
    values: &mut [f32],
    width: usize,
) {
    let name = format!("{place}{name}");
    match fault {
        Some(Fault::Scale { at, by }) if *at == name => values.iter_mut().for_each(|x| *x *= by),
        Some(Fault::Roll { at }) if *at == name => {
            values.chunks_exact_mut(width).for_each(|row| row.rotate_left(1));
        }
        _ => {}
    }
    if tap.wants(&name) {
        tap.take(&name, &[values.len() / width, width], values);
    }
}
