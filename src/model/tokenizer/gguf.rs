//! A tokenizer from the metadata of a GGUF file: byte-level BPE, or pieces with scores.

use std::collections::HashMap;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokenizers::models::bpe::{BPE, BpeBuilder, Vocab};
use tokenizers::{
    AddedToken, DecoderWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper,
    Tokenizer,
};

use crate::model::ModelError;
use crate::model::weights::Gguf;

/// Words with one leading character that is no letter, up to three digits, the rest.
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// The same, digit by digit.
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// How the file marks its tokens (`tokenizer.ggml.token_type`).
const CONTROL: f64 = 3.0;
const USER_DEFINED: f64 = 4.0;

pub(in crate::model::tokenizer) fn read(
    file: &Gguf,
    place: &str,
) -> Result<Option<Tokenizer>, ModelError> {
    let Some(kind) = file.text("tokenizer.ggml.model") else {
        return Ok(None);
    };
    let parts = Parts { file, place };
    let mut tokenizer = match kind {
        "gpt2" => parts.byte_level()?,
        "llama" => parts.pieces()?,
        "none" => return Ok(None),
        other => return Err(parts.unsupported(format!("the tokenizer `{other}`"))),
    };
    parts.add_special(&mut tokenizer)?;
    if let Some(template) = parts.start()? {
        tokenizer.with_post_processor(Some(template));
    }
    Ok(Some(tokenizer))
}

struct Parts<'a> {
    file: &'a Gguf,
    place: &'a str,
}

impl Parts<'_> {
    fn unsupported(&self, what: String) -> ModelError {
        ModelError::Unsupported {
            place: self.place.to_owned(),
            what,
            hint: "use the folder of the original checkpoint with its `tokenizer.json`".into(),
        }
    }

    fn broken(&self, error: &impl ToString) -> ModelError {
        ModelError::broken(self.place, format!("its tokenizer: {}", error.to_string()))
    }

    fn missing(&self, key: &str) -> ModelError {
        ModelError::Missing {
            place: self.place.to_owned(),
            what: format!("`{key}`"),
            hint: "convert the checkpoint again with a current converter".into(),
        }
    }

    fn tokens(&self) -> Result<&[String], ModelError> {
        let key = "tokenizer.ggml.tokens";
        self.file.texts(key).ok_or_else(|| self.missing(key))
    }

    fn vocabulary(&self) -> Result<HashMap<String, u32>, ModelError> {
        let tokens = self.tokens()?;
        let mut vocabulary = HashMap::with_capacity(tokens.len());
        for (id, token) in (0_u32..).zip(tokens) {
            // The first of two equal spellings keeps it: the second can be read, never written.
            vocabulary.entry(token.clone()).or_insert(id);
        }
        Ok(vocabulary)
    }

    fn build(&self, builder: BpeBuilder) -> Result<BPE, ModelError> {
        builder.build().map_err(|error| self.broken(&error))
    }

    /// GPT-2's way: bytes as printable letters, merged by rank inside words.
    fn byte_level(&self) -> Result<Tokenizer, ModelError> {
        let key = "tokenizer.ggml.merges";
        let mut merges = Vec::new();
        for line in self.file.texts(key).ok_or_else(|| self.missing(key))? {
            // A piece may begin with a space only in the eyes of other formats.
            let (left, right) = line
                .split_once(' ')
                .ok_or_else(|| self.broken(&format!("`{line}` of `{key}` is not two pieces")))?;
            merges.push((left.to_owned(), right.to_owned()));
        }
        let pre = self.file.text("tokenizer.ggml.pre").unwrap_or("default");
        let split = |pattern: &str| {
            json!({"type": "Sequence", "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false},
                byte_level(false),
            ]})
        };
        let (words, composed) = match pre {
            "smollm" => (
                json!({"type": "Sequence", "pretokenizers": [
                    {"type": "Digits", "individual_digits": true},
                    byte_level(true),
                ]}),
                false,
            ),
            "llama-bpe" | "llama3" | "llama-v3" => (split(LLAMA3), false),
            "qwen2" => (split(QWEN2), true),
            "default" | "gpt-2" => (byte_level(true), false),
            other => return Err(self.unsupported(format!("the pre-tokenizer `{other}`"))),
        };
        let builder = BPE::builder()
            .vocab_and_merges(self.vocabulary()?.into_iter().collect::<Vocab>(), merges)
            .ignore_merges(matches!(pre, "llama-bpe" | "llama3" | "llama-v3"));
        let mut tokenizer = Tokenizer::new(self.build(builder)?);
        tokenizer.with_pre_tokenizer(Some(self.part::<PreTokenizerWrapper>(words)?));
        tokenizer.with_decoder(Some(self.part::<DecoderWrapper>(byte_level(true))?));
        if composed {
            let normalizer = self.part::<NormalizerWrapper>(json!({"type": "NFC"}))?;
            tokenizer.with_normalizer(Some(normalizer)).map_err(|error| self.broken(&error))?;
        }
        Ok(tokenizer)
    }

    /// SentencePiece's way: spaces as `▁`, merged by the score of what comes out, bytes at last.
    fn pieces(&self) -> Result<Tokenizer, ModelError> {
        let key = "tokenizer.ggml.scores";
        let scores = self.file.numbers(key).ok_or_else(|| self.missing(key))?;
        let tokens = self.tokens()?;
        if scores.len() != tokens.len() {
            let message = format!("{} scores for {} tokens", scores.len(), tokens.len());
            return Err(self.broken(&message));
        }
        let vocabulary = self.vocabulary()?;
        let mut builder = BPE::builder()
            .vocab_and_merges(
                vocabulary.iter().map(|(token, id)| (token.clone(), *id)).collect::<Vocab>(),
                merges_by_score(tokens, scores, &vocabulary),
            )
            .byte_fallback(true)
            .fuse_unk(true);
        let unknown = self.file.unsigned("tokenizer.ggml.unknown_token_id").unwrap_or(0);
        if let Some(token) = usize::try_from(unknown).ok().and_then(|id| tokens.get(id)) {
            builder = builder.unk_token(token.clone());
        }
        let mut tokenizer = Tokenizer::new(self.build(builder)?);
        let spaces = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
        let prefix = self.file.flag("tokenizer.ggml.add_space_prefix").unwrap_or(true);
        let mut steps = vec![spaces];
        let mut back = vec![
            json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}),
            json!({"type": "ByteFallback"}),
            json!({"type": "Fuse"}),
        ];
        if prefix {
            steps.insert(0, json!({"type": "Prepend", "prepend": "▁"}));
            back.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
        }
        let steps = json!({"type": "Sequence", "normalizers": steps});
        let normalizer = self.part::<NormalizerWrapper>(steps)?;
        tokenizer.with_normalizer(Some(normalizer)).map_err(|error| self.broken(&error))?;
        let back = json!({"type": "Sequence", "decoders": back});
        tokenizer.with_decoder(Some(self.part::<DecoderWrapper>(back)?));
        Ok(tokenizer)
    }

    fn part<T: DeserializeOwned>(&self, description: Value) -> Result<T, ModelError> {
        serde_json::from_value(description).map_err(|error| self.broken(&error))
    }

    /// Tokens that text may name as a whole.
    fn add_special(&self, tokenizer: &mut Tokenizer) -> Result<(), ModelError> {
        let kinds = self.file.numbers("tokenizer.ggml.token_type").unwrap_or_default();
        let marked = |kind: f64| {
            let tokens = self.tokens()?.iter().zip(kinds).filter(move |(_, of)| **of == kind);
            let added = tokens.map(move |(token, _)| {
                AddedToken::from(token.clone(), kind == CONTROL).normalized(false)
            });
            Ok::<Vec<_>, ModelError>(added.collect())
        };
        let special = tokenizer.add_special_tokens(marked(CONTROL)?);
        special.map_err(|error| self.broken(&error))?;
        let others = tokenizer.add_tokens(marked(USER_DEFINED)?);
        others.map_err(|error| self.broken(&error))?;
        Ok(())
    }

    /// What puts BOS before a text, if the file wants it.
    fn start(&self) -> Result<Option<PostProcessorWrapper>, ModelError> {
        let pieces = self.file.text("tokenizer.ggml.model") == Some("llama");
        let llama3 = self.file.text("tokenizer.ggml.pre") == Some("llama-bpe");
        let wanted = self.file.flag("tokenizer.ggml.add_bos_token").unwrap_or(pieces || llama3);
        let id = self.file.unsigned("tokenizer.ggml.bos_token_id");
        let (true, Some(id)) = (wanted, id) else {
            return Ok(None);
        };
        let token = usize::try_from(id).ok().and_then(|id| self.tokens().ok()?.get(id));
        let token = token.ok_or_else(|| self.broken(&format!("BOS {id} is no token")))?;
        let bos = json!({"SpecialToken": {"id": token, "type_id": 0}});
        let text = |id: &str, kind: u32| json!({"Sequence": {"id": id, "type_id": kind}});
        self.part(json!({
            "type": "TemplateProcessing",
            "single": [bos, text("A", 0)],
            "pair": [bos, text("A", 0), bos, text("B", 1)],
            "special_tokens": {token: {"id": token, "ids": [id], "tokens": [token]}},
        }))
        .map(Some)
    }
}

fn byte_level(words: bool) -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": words})
}

/// Each way to cut a piece into two known ones is a merge; the piece with the better score is
/// merged first.
fn merges_by_score(
    tokens: &[String],
    scores: &[f64],
    vocabulary: &HashMap<String, u32>,
) -> Vec<(String, String)> {
    let mut order: Vec<usize> = (0..tokens.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then_with(|| a.cmp(b)));
    let mut merges = Vec::new();
    for piece in order.into_iter().map(|index| &tokens[index]) {
        let mut cuts: Vec<(u32, u32, usize)> = Vec::new();
        for (at, _) in piece.char_indices().skip(1) {
            let (left, right) = piece.split_at(at);
            if let (Some(left), Some(right)) = (vocabulary.get(left), vocabulary.get(right)) {
                cuts.push((*left, *right, at));
            }
        }
        cuts.sort_unstable();
        merges.extend(cuts.into_iter().map(|(_, _, at)| {
            let (left, right) = piece.split_at(at);
            (left.to_owned(), right.to_owned())
        }));
    }
    merges
}
