//! The simulated device with a deployment on it: what its buffers hold outlives each call.

use std::sync::Arc;

use super::axis::Widths;
use super::cache::KvCache;
use super::call::{Call, Sizes};
use super::counters::Counters;
use super::error::SimulateError;
use super::fill::Fills;
use super::memory::Memory;
use super::plan::Plan;
use crate::base::{Finding, Stop};
use crate::model::{Logits, Model, Stage};
use crate::npu::{Array, Program, check};
use crate::tensor::{Tap, Tensor};

/// Runs a program of prefill and one of decode on the same cache, rounding as the array does.
///
/// Memory between calls is the device's: a second prefill meets what the first has left.
pub struct Machine {
    prefill: Deployed,
    decode: Option<Deployed>,
    fills: Fills,
    cache: KvCache,
    /// Positions that the cache holds.
    position: usize,
    counters: Counters,
    stop: Stop,
}

struct Deployed {
    plan: Plan,
    memory: Memory,
    sizes: Sizes,
    seq: usize,
    capacity: usize,
}

impl Machine {
    /// Refuses a program that the rules call an error.
    pub fn new(
        prefill: &Program,
        decode: Option<&Program>,
        model: Arc<Model>,
        array: &Array,
    ) -> Result<Self, SimulateError> {
        for program in [Some(prefill), decode].into_iter().flatten() {
            let mut findings = check(program, array);
            findings.retain(Finding::is_error);
            if !findings.is_empty() {
                return Err(SimulateError::Illegal { stage: program.stage, findings });
            }
        }
        Self::unchecked(prefill, decode, model, array)
    }

    /// Runs whatever can be run, with the wrong results that the device would silently give.
    pub fn unchecked(
        prefill: &Program,
        decode: Option<&Program>,
        model: Arc<Model>,
        array: &Array,
    ) -> Result<Self, SimulateError> {
        let config = &model.config;
        let cache = KvCache::new(config.layers, config.kv_width());
        Ok(Self {
            prefill: Deployed::new(prefill, Stage::Prefill, &model, array)?,
            decode: decode
                .map(|own| Deployed::new(own, Stage::Decode, &model, array))
                .transpose()?,
            fills: Fills::new(model),
            cache,
            position: 0,
            counters: Counters::default(),
            stop: Stop::never(),
        })
    }

    /// The same, looking at `stop` before each layer.
    pub fn stopping(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    pub fn model(&self) -> &Model {
        self.fills.model()
    }

    /// What all calls so far did.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// How many positions the cache holds.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Runs a prompt from an empty cache. Logits are `[1 or tokens, vocab]`; a prompt shorter than
    /// the compiled sequence is padded behind, a longer one is refused.
    pub fn prefill(
        &mut self,
        tokens: &[u32],
        logits: Logits,
        tap: &mut dyn Tap,
    ) -> Result<Tensor, SimulateError> {
        self.accepts(tokens)?;
        if tokens.len() > self.prefill.seq {
            let text = format!(
                "{} tokens do not fit the compiled sequence of {}",
                tokens.len(),
                self.prefill.seq
            );
            return Err(SimulateError::input(
                text,
                "shorten the prompt, or lower with a longer seq",
            ));
        }
        self.cache.clear();
        self.position = 0;
        self.counters.prefill.calls += 1;
        let vocab = self.model().config.vocab;
        let mut call = self.call(Stage::Prefill, tokens, tap)?;
        call.body()?;
        let mut out = Vec::new();
        let first = if logits == Logits::All { 0 } else { tokens.len() - 1 };
        for row in first..tokens.len() {
            call.row = row;
            call.counting = row + 1 == tokens.len();
            out.extend(call.tail()?);
        }
        self.position = tokens.len();
        Ok(Tensor::new([tokens.len() - first, vocab], out))
    }

    /// One token after those that the cache holds; its logits.
    pub fn step(&mut self, token: u32, tap: &mut dyn Tap) -> Result<Vec<f32>, SimulateError> {
        self.accepts(&[token])?;
        let Some(decode) = &self.decode else {
            return Err(SimulateError::input("there is no program of decode", "lower it too"));
        };
        if self.position >= decode.capacity {
            let text = format!("the cache has {} places, and all are taken", decode.capacity);
            return Err(SimulateError::input(text, "ask for fewer tokens, or raise the capacity"));
        }
        self.counters.decode.calls += 1;
        let tokens = [token];
        let mut call = self.call(Stage::Decode, &tokens, tap)?;
        call.body()?;
        let logits = call.tail()?;
        self.position += 1;
        Ok(logits)
    }

    fn call<'a>(
        &'a mut self,
        stage: Stage,
        tokens: &'a [u32],
        tap: &'a mut dyn Tap,
    ) -> Result<Call<'a>, SimulateError> {
        let (deployed, counts) = match stage {
            Stage::Prefill => (&mut self.prefill, &mut self.counters.prefill),
            Stage::Decode => match &mut self.decode {
                Some(decode) => (decode, &mut self.counters.decode),
                None => {
                    return Err(SimulateError::input("there is no program of decode", "lower it"));
                }
            },
        };
        Ok(Call {
            plan: &deployed.plan,
            memory: &mut deployed.memory,
            sizes: &deployed.sizes,
            fills: &mut self.fills,
            cache: &mut self.cache,
            counts,
            tap,
            stop: &self.stop,
            tokens,
            start: self.position,
            layer: 0,
            row: 0,
            counting: true,
            shown: Vec::new(),
        })
    }

    fn accepts(&self, tokens: &[u32]) -> Result<(), SimulateError> {
        let vocab = self.model().config.vocab;
        if tokens.is_empty() {
            let hint = "give a prompt of at least one token";
            return Err(SimulateError::input("no tokens to run", hint));
        }
        match tokens.iter().find(|id| **id as usize >= vocab) {
            Some(id) => {
                let text = format!("token id {id} is outside the vocabulary of {vocab}");
                Err(SimulateError::input(text, "encode the text with the model's tokenizer"))
            }
            None => Ok(()),
        }
    }
}

impl Deployed {
    fn new(
        program: &Program,
        stage: Stage,
        model: &Model,
        array: &Array,
    ) -> Result<Self, SimulateError> {
        let refuse = |text: String, hint: &str| {
            Err(SimulateError::senseless(format!("{stage} program"), text, hint))
        };
        let config = &model.config;
        if program.stage != stage {
            return refuse(format!("it says that it is of {}", program.stage), "change `stage`");
        }
        if program.layers != config.layers {
            let text = format!("it has {} layers, the model {}", program.layers, config.layers);
            return refuse(text, "lower it from this model");
        }
        if program.seq == 0 || (stage == Stage::Decode && program.seq != 1) {
            return refuse(format!("a sequence of {}", program.seq), "decode has 1, prefill more");
        }
        let widths = Widths::new(config, program);
        if let Some(misfit) = widths.misfit() {
            return refuse(misfit, "pad heads inside each group, and head_dim at the end");
        }
        let plan = Plan::new(program, array)?;
        Ok(Self {
            memory: Memory::new(&plan.slots, program.layers),
            plan,
            sizes: Sizes { widths, layers: program.layers, head_dim: program.head_dim },
            seq: program.seq,
            capacity: program.capacity,
        })
    }
}
