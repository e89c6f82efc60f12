//! Text to token ids and back.

use std::fs;
use std::path::Path;

use crate::model::tokenizer::chat::{Chat, Message};
use crate::model::tokenizer::gguf;
use crate::model::weights::Gguf;
use crate::model::{Config, ModelError};

/// A vocabulary may be padded with rows that no token uses, by about so much of it.
const PADDING: usize = 16;

#[derive(Clone, Debug)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    chat: Option<Chat>,
}

impl Tokenizer {
    /// `tokenizer.json` of a folder, with its chat template; a folder may have neither.
    pub(in crate::model) fn open_folder(folder: &Path) -> Result<Option<Self>, ModelError> {
        let path = folder.join("tokenizer.json");
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read(&path).map_err(|error| ModelError::io(&path, error))?;
        let parsed = Self::parse(&text, &path.display().to_string())?;
        Ok(Some(Self { chat: Chat::open_folder(folder)?, ..parsed }))
    }

    /// The text of a `tokenizer.json`.
    pub(in crate::model) fn parse(text: &[u8], place: &str) -> Result<Self, ModelError> {
        let inner = tokenizers::Tokenizer::from_bytes(text);
        let inner = inner.map_err(|error| ModelError::broken(place, error.to_string()))?;
        Ok(Self { inner, chat: None })
    }

    pub(in crate::model) fn from_gguf(
        file: &Gguf,
        place: &str,
    ) -> Result<Option<Self>, ModelError> {
        let Some(inner) = gguf::read(file, place)? else {
            return Ok(None);
        };
        let special = |key: &str| {
            let id = file.unsigned(key).and_then(|id| u32::try_from(id).ok());
            id.and_then(|id| inner.id_to_token(id)).unwrap_or_default()
        };
        let chat = file.text("tokenizer.chat_template").map(|template| Chat {
            template: template.to_owned(),
            bos: special("tokenizer.ggml.bos_token_id"),
            eos: special("tokenizer.ggml.eos_token_id"),
        });
        Ok(Some(Self { inner, chat }))
    }

    /// Refuses a tokenizer that makes ids without an embedding, or that leaves most of them unused.
    pub(in crate::model) fn matching(
        self,
        config: &Config,
        place: &str,
    ) -> Result<Self, ModelError> {
        let vocabulary = self.inner.get_vocab(true);
        let most = vocabulary.values().max().map_or(0, |id| *id as usize + 1);
        if most > config.vocab || most + config.vocab / PADDING < config.vocab {
            return Err(ModelError::Mismatch {
                place: place.to_owned(),
                message: format!(
                    "its tokenizer makes {most} ids and its vocabulary has {}",
                    config.vocab
                ),
                hint: "take `tokenizer.json` and the weights from the same checkpoint".into(),
            });
        }
        Ok(self)
    }

    /// Ids of raw text: special tokens in it are recognised, BOS only if the tokenizer says so.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        self.ids(text, true)
    }

    /// Ids of text that brings its own BOS, such as what `chat` writes.
    pub fn encode_written(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        self.ids(text, false)
    }

    fn ids(&self, text: &str, start: bool) -> Result<Vec<u32>, ModelError> {
        let encoding = self.inner.encode_fast(text, start);
        let failed = |error| ModelError::input(format!("cannot tokenise: {error}"), "");
        Ok(encoding.map_err(failed)?.get_ids().to_vec())
    }

    /// Text of ids, special tokens included. Bytes that make no character become U+FFFD.
    pub fn decode(&self, ids: &[u32]) -> String {
        self.inner.decode(ids, false).unwrap_or_default()
    }

    /// The token as the vocabulary spells it.
    pub fn token(&self, id: u32) -> Option<String> {
        self.inner.id_to_token(id)
    }

    /// How many ids it knows.
    pub fn len(&self) -> usize {
        self.inner.get_vocab_size(true)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn has_chat(&self) -> bool {
        self.chat.is_some()
    }

    /// The conversation as the checkpoint's own template writes it, ready for the model's turn.
    pub fn chat(&self, messages: &[Message]) -> Result<String, ModelError> {
        match &self.chat {
            None => Err(ModelError::input("this tokenizer has no chat template", "use raw text")),
            Some(chat) => chat.write(messages),
        }
    }
}
