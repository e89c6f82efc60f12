//! Reads a program file, and tells of everything in it that is none with line and column.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use toml_edit::{Document, Item, TableLike};

use super::blocks::blocks;
use super::buffer::{Buffer, Fill};
use super::dispatch::{Dispatch, HostOp, Kernel, Launch, Program, Tile, Work};
use crate::base::{Finding, nearest};

/// The largest size that a file may state: past any network, and products of four still fit f64.
const MOST: i64 = 1 << 40;

const TOP: &[&str] = &[
    "stage", "model", "layers", "seq", "capacity", "heads", "kv_heads", "head_dim", "buffer",
    "dispatch",
];
const BUFFER: &[&str] = &["name", "shape", "dtype", "layout", "residency", "scope", "fill"];
const DISPATCH: &[&str] = &["name", "scope", "host", "inputs", "outputs", "launch"];
const LAUNCH: &[&str] = &["kernel", "shape", "method", "inputs", "outputs", "herd", "tile"];
const TILE: &[&str] = &["m", "k_l2", "k_l1", "n"];

const STAGES: &[&str] = &["prefill", "decode"];
const DTYPES: &[&str] = &["bf16", "f32", "i32"];
const LAYOUTS: &[&str] = &["seq-first", "heads-first"];
const RESIDENCIES: &[&str] = &["static", "activation", "intermediate"];
const SCOPES: &[&str] = &["layer", "model"];
const METHODS: &[&str] = &["fused-cast", "drain", "direct", "external"];
const FILLS: &[&str] = &["rope-table", "embedding", "key-cache", "value-cache", "zeros"];
const HOST: &[&str] = &[
    "embed",
    "attention",
    "cache-write",
    "transpose",
    "final-norm",
    "lm-head",
    "rms-norm",
    "rope",
    "silu-mul",
    "add",
    "bias-add",
];

/// Kernels, and the sizes that each has.
const KERNELS: &[(&str, &[&str])] = &[
    ("gemm", &["m", "k", "n"]),
    ("gemv", &["k", "n"]),
    ("flash-attention", &["queries", "keys", "heads", "kv_heads", "head_dim", "causal"]),
    ("rms-norm", &["rows", "width"]),
    ("layer-norm", &["rows", "width"]),
    ("rope", &["rows", "width"]),
    ("silu-mul", &["elements"]),
    ("gelu", &["elements"]),
    ("add", &["elements"]),
    ("bias-add", &["rows", "width"]),
    ("cast", &["elements"]),
];

pub(super) fn read(place: &str, text: &str) -> (Option<Program>, Vec<Finding>) {
    let mut reader = Reader { place, text, findings: Vec::new() };
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let finding = Finding::error(reader.at(at), error.message().trim());
            return (None, vec![finding.rule("toml")]);
        }
    };
    let program = reader.program(document.as_table());
    let has_errors = reader.findings.iter().any(Finding::is_error);
    (program.filter(|_| !has_errors), reader.findings)
}

struct Reader<'a> {
    place: &'a str,
    text: &'a str,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn program(&mut self, table: &dyn TableLike) -> Option<Program> {
        self.know(table, TOP);
        // Where the blocks stand, for what is missing in them.
        let cut = blocks(self.text);
        let starts = |header: &str| -> Vec<usize> {
            cut.iter().filter(|block| block.header == header).map(|block| block.at).collect()
        };
        let (launches, mut next_launch) = (starts("dispatch.launch"), 0);
        let mut buffers = Vec::new();
        for (table, at) in self.blocks(table, "buffer").into_iter().zip(starts("buffer")) {
            buffers.push(self.buffer(table, at));
        }
        let mut dispatches = Vec::new();
        for (table, at) in self.blocks(table, "dispatch").into_iter().zip(starts("dispatch")) {
            dispatches.push(self.dispatch(table, at, &launches, &mut next_launch));
        }
        let stage = self.one_of(table, "stage", STAGES, 0);
        let model = self.string(table, "model", 0);
        let mut size = |key| self.size(table, key, 0);
        let [layers, seq, capacity] = ["layers", "seq", "capacity"].map(&mut size);
        let [heads, kv_heads, head_dim] = ["heads", "kv_heads", "head_dim"].map(&mut size);
        Some(Program {
            stage: stage?,
            model: model?,
            layers: layers?,
            seq: seq?,
            capacity: capacity?,
            heads: heads?,
            kv_heads: kv_heads?,
            head_dim: head_dim?,
            buffers: buffers.into_iter().collect::<Option<_>>()?,
            dispatches: dispatches.into_iter().collect::<Option<_>>()?,
        })
    }

    fn buffer(&mut self, table: &dyn TableLike, at: usize) -> Option<Buffer> {
        self.know(table, BUFFER);
        let name = self.string(table, "name", at);
        let shape = self.shape(table, at);
        let dtype = self.one_of(table, "dtype", DTYPES, at);
        let layout = self.one_of_or(table, "layout", LAYOUTS);
        let residency = self.one_of(table, "residency", RESIDENCIES, at);
        let scope = self.one_of_or(table, "scope", SCOPES);
        let fill = table.get("fill").and_then(|item| self.fill(item));
        Some(Buffer {
            name: name?,
            shape: shape?,
            dtype: dtype?,
            layout,
            residency: residency?,
            scope,
            fill,
        })
    }

    fn shape(&mut self, table: &dyn TableLike, at: usize) -> Option<Vec<usize>> {
        let item = self.need(table, "shape", at)?;
        let sizes = item.as_array().and_then(|array| array.iter().map(size_of).collect());
        if sizes.is_none() {
            self.expected(item, "shape", "a list of sizes, such as `[512, 576]`");
        }
        sizes
    }

    fn fill(&mut self, item: &Item) -> Option<Fill> {
        if let Some(table) = item.as_table_like() {
            self.know(table, &["weight", "first"]);
            let at = item.span().map_or(0, |span| span.start);
            let role = self.string(table, "weight", at)?;
            if table.get("first").is_none() {
                return Some(Fill::Weight(role));
            }
            let first = self.size(table, "first", at)?;
            return Some(Fill::WeightRows { role, first });
        }
        let fill = self.word(item, "fill", FILLS);
        if fill.is_none() && item.as_str().is_some_and(|text| text.contains('.')) {
            let last = self.findings.last_mut()?;
            last.hint = Some("write a weight as `{ weight = \"attn_q.weight\" }`".to_owned());
        }
        fill
    }

    fn dispatch(
        &mut self,
        table: &dyn TableLike,
        at: usize,
        starts: &[usize],
        next: &mut usize,
    ) -> Option<Dispatch> {
        self.know(table, DISPATCH);
        let name = self.string(table, "name", at);
        let scope = self.one_of_or(table, "scope", SCOPES);
        let blocks = self.blocks(table, "launch");
        if let Some(host) = table.get("host") {
            if !blocks.is_empty() {
                self.expected(host, "host", "no launches beside it: a dispatch has one of the two");
            }
            *next += blocks.len();
            let op = self.word(host, "host", HOST);
            let inputs = self.names(table, "inputs", at);
            let outputs = self.names(table, "outputs", at);
            let op = HostOp { op: op?, inputs: inputs?, outputs: outputs? };
            return Some(Dispatch { name: name?, scope, work: Work::Host(op) });
        }
        for key in ["inputs", "outputs"] {
            if let Some(item) = table.get(key) {
                self.expected(item, key, "in a `[[dispatch.launch]]`, or with `host`");
            }
        }
        if blocks.is_empty() {
            let text = "this dispatch has neither `host` nor a `[[dispatch.launch]]`";
            self.findings.push(Finding::error(self.at(at), text).rule("program"));
        }
        let mut launches = Vec::new();
        for table in blocks {
            let at = starts.get(*next).copied().unwrap_or(at);
            *next += 1;
            launches.push(self.launch(table, at));
        }
        let launches = launches.into_iter().collect::<Option<_>>()?;
        Some(Dispatch { name: name?, scope, work: Work::Launches(launches) })
    }

    fn launch(&mut self, table: &dyn TableLike, at: usize) -> Option<Launch> {
        self.know(table, LAUNCH);
        let kernel = self.kernel(table, at);
        let inputs = self.names(table, "inputs", at);
        let outputs = self.names(table, "outputs", at);
        let herd = self.need(table, "herd", at).and_then(|item| {
            let sizes: Option<Vec<usize>> =
                item.as_array().and_then(|array| array.iter().map(size_of).collect());
            let herd = sizes.and_then(|sizes| <[usize; 2]>::try_from(sizes).ok());
            if herd.is_none() {
                self.expected(item, "herd", "columns and rows, such as `[8, 4]`");
            }
            herd
        });
        let mut tile = Tile::default();
        if let Some(sizes) = self.table(table, "tile") {
            self.know(sizes, TILE);
            let fields = [&mut tile.m, &mut tile.k_l2, &mut tile.k_l1, &mut tile.n];
            for (key, field) in TILE.iter().zip(fields) {
                if sizes.contains_key(key) {
                    *field = self.size(sizes, key, at).unwrap_or_default();
                }
            }
        }
        Some(Launch { kernel: kernel?, inputs: inputs?, outputs: outputs?, herd: herd?, tile })
    }

    fn kernel(&mut self, table: &dyn TableLike, at: usize) -> Option<Kernel> {
        let names: Vec<&str> = KERNELS.iter().map(|(name, _)| *name).collect();
        let kind: String = self.one_of(table, "kernel", &names, at)?;
        let (_, keys) = KERNELS.iter().find(|(name, _)| *name == kind)?;
        self.need(table, "shape", at)?;
        let sizes = self.table(table, "shape")?;
        self.know(sizes, keys);
        let at = table.get("shape").and_then(Item::span).map_or(at, |span| span.start);
        let mut fields = Map::new();
        fields.insert("kind".to_owned(), json!(kind));
        for key in *keys {
            let value = if *key == "causal" {
                let item = self.need(sizes, key, at)?;
                if item.as_bool().is_none() {
                    self.expected(item, key, "`true` or `false`");
                }
                json!(item.as_bool()?)
            } else {
                json!(self.size(sizes, key, at)?)
            };
            fields.insert((*key).to_owned(), value);
        }
        if kind == "gemm" {
            let method: String = self.one_of(table, "method", METHODS, at)?;
            fields.insert("method".to_owned(), json!(method));
        } else if let Some(item) = table.get("method") {
            self.expected(item, "method", "only in a `gemm`");
        }
        serde_json::from_value(Value::Object(fields)).ok()
    }

    /// Blocks of one kind. A person may write arrays of inline tables; blocks can be told apart.
    fn blocks<'t>(&mut self, table: &'t dyn TableLike, key: &str) -> Vec<&'t dyn TableLike> {
        let Some(item) = table.get(key) else { return Vec::new() };
        let Some(array) = item.as_array_of_tables() else {
            let header = if key == "launch" { "dispatch.launch" } else { key };
            self.expected(item, key, &format!("blocks that begin with `[[{header}]]`"));
            return Vec::new();
        };
        array.iter().map(|table| -> &dyn TableLike { table }).collect()
    }

    /// Tells of every key that is none.
    fn know(&mut self, table: &dyn TableLike, known: &[&str]) {
        let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
        for key in keys.iter().filter(|key| !known.contains(&key.as_str())) {
            let span = table.get_key_value(key).and_then(|(key, _)| key.span());
            let at = span.map_or(0, |span| span.start);
            let finding = Finding::error(self.at(at), format!("there is no key `{key}` here"));
            let finding = finding.rule("program").hint(meant(key, known));
            self.findings.push(finding);
        }
    }

    fn need<'t>(&mut self, table: &'t dyn TableLike, key: &str, at: usize) -> Option<&'t Item> {
        let item = table.get(key);
        if item.is_none() {
            let text = format!("the key `{key}` is missing");
            self.findings.push(Finding::error(self.at(at), text).rule("program"));
        }
        item
    }

    fn table<'t>(&mut self, table: &'t dyn TableLike, key: &str) -> Option<&'t dyn TableLike> {
        let item = table.get(key)?;
        let found = item.as_table_like();
        if found.is_none() {
            self.expected(item, key, "a table in braces");
        }
        found
    }

    fn string(&mut self, table: &dyn TableLike, key: &str, at: usize) -> Option<String> {
        let item = self.need(table, key, at)?;
        let text = item.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.expected(item, key, "a text in quotes");
        }
        text.map(str::to_owned)
    }

    fn names(&mut self, table: &dyn TableLike, key: &str, at: usize) -> Option<Vec<String>> {
        let item = self.need(table, key, at)?;
        let names = item.as_array().and_then(|array| {
            array.iter().map(|value| value.as_str().map(str::to_owned)).collect()
        });
        if names.is_none() {
            self.expected(item, key, "a list of names of buffers");
        }
        names
    }

    fn size(&mut self, table: &dyn TableLike, key: &str, at: usize) -> Option<usize> {
        let item = self.need(table, key, at)?;
        let size = item.as_value().and_then(size_of);
        if size.is_none() {
            self.expected(item, key, "a whole number from 0");
        }
        size
    }

    fn one_of<T: DeserializeOwned>(
        &mut self,
        table: &dyn TableLike,
        key: &str,
        words: &[&str],
        at: usize,
    ) -> Option<T> {
        let item = self.need(table, key, at)?;
        self.word(item, key, words)
    }

    fn one_of_or<T: DeserializeOwned + Default>(
        &mut self,
        table: &dyn TableLike,
        key: &str,
        words: &[&str],
    ) -> T {
        table.get(key).and_then(|item| self.word(item, key, words)).unwrap_or_default()
    }

    fn word<T: DeserializeOwned>(&mut self, item: &Item, key: &str, words: &[&str]) -> Option<T> {
        let said = item.as_str();
        if let Some(word) = said.filter(|word| words.contains(word)) {
            return serde_json::from_value(json!(word)).ok();
        }
        let at = item.span().map_or(0, |span| span.start);
        let text = format!("`{key}` is `{}`", item.to_string().trim());
        let hint = meant(said.unwrap_or_default(), words);
        self.findings.push(Finding::error(self.at(at), text).rule("program").hint(hint));
        None
    }

    fn expected(&mut self, item: &Item, key: &str, what: &str) {
        let at = item.span().map_or(0, |span| span.start);
        let shown = crate::base::shorten(item.to_string().trim(), 60);
        let text = format!("`{key}` is `{shown}`, expected {what}");
        self.findings.push(Finding::error(self.at(at), text).rule("program"));
    }

    /// `program/prefill.toml:3:5`, both counted from 1.
    fn at(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.place)
    }
}

fn size_of(value: &toml_edit::Value) -> Option<usize> {
    let size = value.as_integer().filter(|size| (0..=MOST).contains(size))?;
    usize::try_from(size).ok()
}

fn meant(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {}", known.join(", ")),
    }
}
