//! What earlier deployments learnt: one JSON line a result, searched by words.

use serde::{Deserialize, Serialize};

use crate::base::Finding;

/// One result worth keeping beyond its session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    pub text: String,
    pub model: String,
    /// `prefill`, `decode`, or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stage: String,
    /// The session that found it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The receipt that proves it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub receipt: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    pub entries: Vec<Remembered>,
}

impl Memory {
    /// Reads the lines of a memory file; a line that cannot be read is a finding, not an end.
    pub fn parse(place: &str, text: &str) -> (Self, Vec<Finding>) {
        let mut memory = Self::default();
        let mut findings = Vec::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_str(line) {
                Ok(entry) => memory.entries.push(entry),
                Err(error) => {
                    let place = format!("{place}:{}", number + 1);
                    findings.push(Finding::warning(place, format!("no entry: {error}")));
                }
            }
        }
        (memory, findings)
    }

    /// Takes in a result, unless it is known already: repeating a call must not repeat the line.
    pub fn add(&mut self, entry: Remembered) {
        if !self.entries.contains(&entry) {
            self.entries.push(entry);
        }
    }

    /// The file: one line an entry.
    pub fn to_text(&self) -> String {
        let line = |entry: &Remembered| serde_json::to_string(entry).unwrap_or_default() + "\n";
        self.entries.iter().map(line).collect()
    }

    /// The entries that have every word, newest first.
    pub fn find<'a>(&'a self, words: &str) -> impl Iterator<Item = &'a Remembered> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        self.entries.iter().rev().filter(move |entry| {
            let text = format!("{} {} {}", entry.text, entry.model, entry.stage).to_lowercase();
            words.iter().all(|word| text.contains(word))
        })
    }

    /// Drops the entries that have every word; how many there were.
    pub fn forget(&mut self, words: &str) -> usize {
        let before = self.entries.len();
        let gone: Vec<_> = self.find(words).cloned().collect();
        self.entries.retain(|entry| !gone.contains(entry));
        before - self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_is_found_again() {
        let mut memory = Memory::default();
        let entry = |text: &str, model: &str| Remembered {
            text: text.into(),
            model: model.into(),
            ..Remembered::default()
        };
        memory.add(entry("static weights halve decode", "tiny-llama"));
        memory.add(entry("static weights halve decode", "tiny-llama"));
        memory.add(entry("drain tiles win", "smollm2"));
        let (again, findings) = Memory::parse("m", &(memory.to_text() + "torn"));
        assert_eq!((again.entries.len(), findings.len()), (2, 1));
        assert_eq!(findings[0].place, "m:3");
        assert_eq!(again.find("Static tiny").count(), 1);
        assert_eq!(memory.forget("drain"), 1);
        assert_eq!(memory.entries.len(), 1);
    }
}
