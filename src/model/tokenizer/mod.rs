//! Text to token ids and back, from `tokenizer.json` or GGUF metadata, and conversations to text.

mod chat;
mod gguf;
mod tokenizer;

pub use chat::Message;
pub use tokenizer::Tokenizer;
