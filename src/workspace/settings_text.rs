//! `pilotfish.toml` as text: read with findings, written without losing a person's comments.

use std::collections::BTreeMap;

use toml_edit::{Array, Document, DocumentMut, Item, Table, TableLike, Value};

use super::settings::{Budgets, GateSettings, RuleSettings, SETTINGS, STOPS, Settings};
use crate::base::{Finding, nearest};

/// The most that a compiled sequence or a printed sample may have.
const MOST_TOKENS: i64 = 1 << 20;

impl Settings {
    /// Reads what a person wrote. What is wrong is told with its line and column, and the default
    /// stands in its place; whoever goes on looks whether a finding is an error.
    pub fn parse(text: &str) -> (Self, Vec<Finding>) {
        let mut reader = Reader { text, findings: Vec::new() };
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                let finding = Finding::error(reader.place(Some(at)), error.message().trim());
                return (Self::of(""), vec![finding.rule("toml")]);
            }
        };
        let settings = reader.settings(document.as_table());
        if settings.model.is_empty() {
            let finding = Finding::error(SETTINGS, "it does not say which `model` to deploy");
            reader
                .findings
                .push(finding.hint("add `model = \"tiny-llama\"`, a path, or `hf:org/name`"));
        }
        (settings, reader.findings)
    }

    /// Writes these settings into a text that a person may have written: values that say the same
    /// stay as they are, comments stay in any case. With an empty text, a whole file.
    pub fn write_into(&self, text: &str) -> Result<String, Finding> {
        let start = if text.trim().is_empty() { FRESH } else { text };
        let parsed = start.parse::<DocumentMut>();
        let mut document = parsed.map_err(|error| Finding::error(SETTINGS, error.message()))?;
        let (was, _) = Self::parse(start);
        self.put(&was, document.as_table_mut());
        Ok(document.to_string())
    }

    fn put(&self, was: &Self, table: &mut Table) {
        let texts = [
            ("model", &self.model, &was.model),
            ("target", &self.target, &was.target),
            ("agent", &self.agent, &was.agent),
            ("autonomy", &self.autonomy, &was.autonomy),
        ];
        for (key, now, was) in texts {
            put(table, key, now != was, Some(now.as_str().into()));
        }
        let sizes = [("seq", self.seq, was.seq), ("tokens", self.tokens, was.tokens)];
        for (key, now, was) in sizes {
            put(table, key, now != was, Some(integer(now as u64)));
        }
        let layers = self.layers.map(|layers| integer(layers as u64));
        put(table, "layers", self.layers != was.layers, layers);
        put(table, "seed", self.seed != was.seed, Some(integer(self.seed)));
        put(table, "synthetic", self.synthetic != was.synthetic, Some(self.synthetic.into()));
        if self.rules != was.rules {
            let rules = section(table, "rules");
            let (now, was) = (&self.rules, &was.rules);
            put(rules, "edit_scope", now.edit_scope != was.edit_scope, Some(list(&now.edit_scope)));
            put(rules, "protected", now.protected != was.protected, Some(list(&now.protected)));
        }
        if self.budgets != was.budgets {
            let budgets = section(table, "budgets");
            let (now, was) = (&self.budgets, &was.budgets);
            put(budgets, "minutes", now.minutes != was.minutes, now.minutes.map(Value::from));
            put(budgets, "cents", now.cents != was.cents, now.cents.map(Value::from));
            put(budgets, "tokens", now.tokens != was.tokens, now.tokens.map(integer));
            put(budgets, "calls", now.calls != was.calls, now.calls.map(integer));
        }
        if self.gates != was.gates {
            let gates = section(table, "gates");
            let differs = self.gates.profile != was.gates.profile;
            put(gates, "profile", differs, Some(self.gates.profile.as_str().into()));
            for (gate, metrics) in &self.gates.overrides {
                let old = was.gates.overrides.get(gate);
                for (metric, value) in metrics {
                    let differs = old.and_then(|old| old.get(metric)) != Some(value);
                    put(section(gates, gate), metric, differs, Some((*value).into()));
                }
            }
        }
    }
}

const FRESH: &str = "\
# What is deployed, where, and how far the agent may go alone.
model = \"\"
target = \"sim\"
agent = \"playbook\"
# observe, guide, edit, phase or auto
autonomy = \"guide\"
# Prompt tokens that prefill is compiled for, and tokens of the printed sample.
seq = 512
tokens = 64
seed = 0
";

const KEYS: [&str; 12] = [
    "model",
    "target",
    "agent",
    "autonomy",
    "seq",
    "tokens",
    "layers",
    "seed",
    "synthetic",
    "rules",
    "budgets",
    "gates",
];

struct Reader<'a> {
    text: &'a str,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn settings(&mut self, table: &Table) -> Settings {
        let mut settings = Settings::of("");
        self.know(table, "", &KEYS);
        self.string(table, "model", &mut settings.model);
        self.string(table, "target", &mut settings.target);
        self.string(table, "agent", &mut settings.agent);
        self.one_of(table, "autonomy", &STOPS, &mut settings.autonomy);
        self.size(table, "seq", 1, &mut settings.seq);
        self.size(table, "tokens", 1, &mut settings.tokens);
        let mut layers = 0;
        self.size(table, "layers", 1, &mut layers);
        settings.layers = (layers > 0).then_some(layers);
        if let Some(seed) = self.count(table, "seed") {
            settings.seed = seed;
        }
        if let Some(item) = table.get("synthetic") {
            match item.as_bool() {
                Some(synthetic) => settings.synthetic = synthetic,
                None => self.expected(item, "synthetic", "`true` or `false`"),
            }
        }
        if let Some(rules) = self.table(table, "rules") {
            settings.rules = self.rules(rules);
        }
        if let Some(budgets) = self.table(table, "budgets") {
            settings.budgets = self.budgets(budgets);
        }
        if let Some(gates) = self.table(table, "gates") {
            settings.gates = self.gates(gates);
        }
        settings
    }

    fn rules(&mut self, table: &dyn TableLike) -> RuleSettings {
        let mut rules = RuleSettings::default();
        self.know(table, "rules.", &["edit_scope", "protected"]);
        self.strings(table, "edit_scope", &mut rules.edit_scope);
        self.strings(table, "protected", &mut rules.protected);
        rules
    }

    fn budgets(&mut self, table: &dyn TableLike) -> Budgets {
        self.know(table, "budgets.", &["minutes", "cents", "tokens", "calls"]);
        Budgets {
            minutes: self.number(table, "minutes").filter(|minutes| *minutes >= 0.0),
            cents: self.number(table, "cents").filter(|cents| *cents >= 0.0),
            tokens: self.count(table, "tokens"),
            calls: self.count(table, "calls"),
        }
    }

    fn gates(&mut self, table: &dyn TableLike) -> GateSettings {
        let mut gates = GateSettings::default();
        self.one_of(table, "profile", &["fp32", "hf"], &mut gates.profile);
        for (gate, item) in table.iter().filter(|(key, _)| *key != "profile") {
            let Some(metrics) = item.as_table_like() else {
                self.expected(item, gate, "a table of thresholds, such as `cosine = 0.96`");
                continue;
            };
            let numbers = metrics
                .iter()
                .filter_map(|(metric, _)| Some((metric.to_owned(), self.number(metrics, metric)?)));
            let numbers: BTreeMap<_, _> = numbers.collect();
            gates.overrides.insert(gate.to_owned(), numbers);
        }
        gates
    }

    /// Tells of every key that is none.
    fn know(&mut self, table: &dyn TableLike, prefix: &str, known: &[&str]) {
        let unknown: Vec<String> = table
            .iter()
            .map(|(key, _)| key.to_owned())
            .filter(|key| !known.contains(&key.as_str()))
            .collect();
        for key in unknown {
            let span = table.get_key_value(&key).and_then(|(key, _)| key.span());
            let place = self.place(span.map(|span| span.start));
            let mut finding = Finding::error(place, format!("there is no key `{prefix}{key}`"));
            if let Some(near) = nearest(&key, known.iter().copied()) {
                finding = finding.hint(format!("did you mean `{prefix}{near}`?"));
            }
            self.findings.push(finding.rule("settings"));
        }
    }

    fn table<'t>(&mut self, table: &'t Table, key: &str) -> Option<&'t dyn TableLike> {
        let item = table.get(key)?;
        let found = item.as_table_like();
        if found.is_none() {
            self.expected(item, key, "a table");
        }
        found
    }

    fn string(&mut self, table: &Table, key: &str, into: &mut String) {
        let Some(item) = table.get(key) else { return };
        match item.as_str() {
            Some(text) => text.trim().clone_into(into),
            None => self.expected(item, key, "a text in quotes"),
        }
    }

    fn one_of(&mut self, table: &dyn TableLike, key: &str, words: &[&str], into: &mut String) {
        let Some(item) = table.get(key) else { return };
        match item.as_str().filter(|word| words.contains(word)) {
            Some(word) => word.clone_into(into),
            None => self.expected(item, key, &format!("one of {}", words.join(", "))),
        }
    }

    fn strings(&mut self, table: &dyn TableLike, key: &str, into: &mut Vec<String>) {
        let Some(item) = table.get(key) else { return };
        let texts = item.as_array().and_then(|array| {
            array.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        match texts {
            Some(texts) => *into = texts,
            None => self.expected(item, key, "a list of texts"),
        }
    }

    fn size(&mut self, table: &Table, key: &str, least: i64, into: &mut usize) {
        let Some(item) = table.get(key) else { return };
        let size = item.as_integer().filter(|size| (least..=MOST_TOKENS).contains(size));
        match size.and_then(|size| usize::try_from(size).ok()) {
            Some(size) => *into = size,
            None => {
                self.expected(item, key, &format!("a whole number from {least} to {MOST_TOKENS}"));
            }
        }
    }

    fn count(&mut self, table: &dyn TableLike, key: &str) -> Option<u64> {
        let item = table.get(key)?;
        let count = item.as_integer().and_then(|count| u64::try_from(count).ok());
        if count.is_none() {
            self.expected(item, key, "a whole number from 0");
        }
        count
    }

    fn number(&mut self, table: &dyn TableLike, key: &str) -> Option<f64> {
        let item = table.get(key)?;
        let number = item.as_float().or_else(|| item.as_integer().map(|whole| whole as f64));
        let number = number.filter(|number| number.is_finite());
        if number.is_none() {
            self.expected(item, key, "a number");
        }
        number
    }

    fn expected(&mut self, item: &Item, key: &str, what: &str) {
        let place = self.place(item.span().map(|span| span.start));
        let shown = item.to_string();
        let message = format!("`{key}` is `{}`, expected {what}", shown.trim());
        self.findings.push(Finding::error(place, message).rule("settings"));
    }

    /// `pilotfish.toml:3:5`, both counted from 1.
    fn place(&self, at: Option<usize>) -> String {
        let Some(before) = at.and_then(|at| self.text.get(..at)) else { return SETTINGS.into() };
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        format!("{SETTINGS}:{line}:{column}")
    }
}

/// Sets or removes a value that differs, keeping what a person wrote around it.
fn put(table: &mut Table, key: &str, differs: bool, value: Option<Value>) {
    if !differs {
        return;
    }
    let Some(mut value) = value else {
        table.remove(key);
        return;
    };
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *value.decor_mut() = old.decor().clone();
    }
    table[key] = Item::Value(value);
}

fn section<'t>(table: &'t mut Table, key: &str) -> &'t mut Table {
    if table.get(key).is_none_or(|item| !item.is_table()) {
        let inline = table.remove(key).and_then(|item| item.into_table().ok());
        table.insert(key, Item::Table(inline.unwrap_or_default()));
    }
    table[key].as_table_mut().expect("it was made a table just now")
}

fn list(texts: &[String]) -> Value {
    Value::Array(texts.iter().map(String::as_str).collect::<Array>())
}

fn integer(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut settings = Settings::of("tiny-llama");
        let fresh = settings.write_into("").unwrap();
        assert_eq!(Settings::parse(&fresh), (settings.clone(), vec![]));
        settings.autonomy = "auto".into();
        settings.layers = Some(2);
        settings.synthetic = true;
        settings.rules.edit_scope.push("src/**".into());
        settings.budgets.minutes = Some(2.5);
        settings.budgets.calls = Some(7);
        let metrics = [("cosine".to_owned(), 0.96)].into();
        settings.gates.overrides.insert("logits".into(), metrics);
        let text = settings.write_into(&fresh).unwrap();
        assert_eq!(Settings::parse(&text), (settings.clone(), vec![]));
        assert_eq!(settings.write_into(&text).unwrap(), text);
        assert!(text.contains("# observe, guide, edit, phase or auto\nautonomy = \"auto\"\n"));
        settings.layers = None;
        let text = settings.write_into(&text).unwrap();
        assert!(!text.contains("layers"), "{text}");
    }

    #[test]
    fn a_persons_file_keeps_its_look() {
        let written = "seq   = 1_024 # long\n\nmodel = 'tiny-llama'\nrules = { protected = [] }\n";
        let (mut settings, findings) = Settings::parse(written);
        assert_eq!((findings, settings.seq), (vec![], 1024));
        assert_eq!(settings.write_into(written).unwrap(), written);
        settings.seq = 512;
        let text = settings.write_into(written).unwrap();
        assert_eq!(text, written.replace("1_024", "512"));
    }

    #[test]
    fn each_slip_is_told_with_its_place() {
        let check = |text: &str, place: &str, words: &str| {
            let (_, findings) = Settings::parse(text);
            let told = findings.first().map(ToString::to_string).unwrap_or_default();
            assert!(told.contains(place) && told.contains(words), "{text}\n{told}");
        };
        check("model = \"m\"\n  autonmy = \"auto\"\n", "pilotfish.toml:2:3", "`autonomy`?");
        check("model = \"m\"\nautonomy = \"full\"", "pilotfish.toml:2:12", "one of observe");
        check("model = \"m\"\nseq = -1", "pilotfish.toml:2:7", "from 1");
        check("model = \"m\"\nseq = \"x\"", "pilotfish.toml:2:7", "`\"x\"`");
        check("model = \"m\"\n[rules]\nprotect = []", "pilotfish.toml:3:1", "`rules.protected`?");
        check("model = \"m\"\n[gates.logits]\ncosine = nan", "pilotfish.toml:3:10", "a number");
        check("model = \"m\"\nseq 3", "pilotfish.toml:2:5", "");
        check("seq = 3", "pilotfish.toml", "which `model`");
    }
}
