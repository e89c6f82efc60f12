//! Writes program files: one block for each buffer, dispatch and launch, in canonical form.

use serde::Serialize;
use serde_json::Value;

use super::blocks::{Block, Key};
use super::buffer::{Buffer, Fill, Layout, Scope};
use super::dispatch::{Dispatch, Kernel, Launch, Program, Tile, Work};

/// Keys and values of one block, in canonical order.
pub(super) type Lines = Vec<(&'static str, String)>;

pub(super) fn top(program: &Program) -> Lines {
    vec![
        ("stage", word(&program.stage)),
        ("model", quoted(&program.model)),
        ("layers", program.layers.to_string()),
        ("seq", program.seq.to_string()),
        ("capacity", program.capacity.to_string()),
        ("heads", program.heads.to_string()),
        ("kv_heads", program.kv_heads.to_string()),
        ("head_dim", program.head_dim.to_string()),
    ]
}

pub(super) fn buffer(buffer: &Buffer) -> Lines {
    let shape: Vec<String> = buffer.shape.iter().map(usize::to_string).collect();
    let mut lines = vec![
        ("name", quoted(&buffer.name)),
        ("shape", format!("[{}]", shape.join(", "))),
        ("dtype", word(&buffer.dtype)),
    ];
    if buffer.layout != Layout::default() {
        lines.push(("layout", word(&buffer.layout)));
    }
    lines.push(("residency", word(&buffer.residency)));
    if buffer.scope != Scope::default() {
        lines.push(("scope", word(&buffer.scope)));
    }
    if let Some(fill) = &buffer.fill {
        lines.push((
            "fill",
            match fill {
                Fill::Weight(role) => format!("{{ weight = {} }}", quoted(role)),
                Fill::WeightRows { role, first } => {
                    format!("{{ weight = {}, first = {first} }}", quoted(role))
                }
                plain => word(plain),
            },
        ));
    }
    lines
}

/// The head of a dispatch; its launches are blocks of their own.
pub(super) fn dispatch(dispatch: &Dispatch) -> Lines {
    let mut lines = vec![("name", quoted(&dispatch.name))];
    if dispatch.scope != Scope::default() {
        lines.push(("scope", word(&dispatch.scope)));
    }
    if let Work::Host(op) = &dispatch.work {
        lines.push(("host", word(&op.op)));
        lines.push(("inputs", list(&op.inputs)));
        lines.push(("outputs", list(&op.outputs)));
    }
    lines
}

pub(super) fn launch(launch: &Launch) -> Lines {
    let (shape, method) = shape(&launch.kernel);
    let mut lines = vec![("kernel", quoted(launch.kernel.name())), ("shape", shape)];
    lines.extend(method.map(|method| ("method", method)));
    lines.push(("inputs", list(&launch.inputs)));
    lines.push(("outputs", list(&launch.outputs)));
    lines.push(("herd", format!("[{}, {}]", launch.herd[0], launch.herd[1])));
    if launch.tile != Tile::default() {
        let Tile { m, k_l2, k_l1, n } = launch.tile;
        let sizes = [("m", m), ("k_l2", k_l2), ("k_l1", k_l1), ("n", n)];
        let set = sizes.iter().filter(|(_, size)| *size > 0);
        let set: Vec<String> = set.map(|(name, size)| format!("{name} = {size}")).collect();
        lines.push(("tile", format!("{{ {} }}", set.join(", "))));
    }
    lines
}

/// The sizes of a kernel as a table, and the method of a GEMM.
fn shape(kernel: &Kernel) -> (String, Option<String>) {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(kernel) else {
        return ("{}".to_owned(), None);
    };
    fields.shift_remove("kind");
    let method = fields.shift_remove("method").map(|method| method.to_string());
    let sizes: Vec<String> = fields.iter().map(|(name, size)| format!("{name} = {size}")).collect();
    (format!("{{ {} }}", sizes.join(", ")), method)
}

fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).map_or_else(|_| String::new(), |value| value.to_string())
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    format!("[{}]", names.join(", "))
}

fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// One block as text: the comments of `old` stand where they stood, those of keys that are gone at
/// its end.
pub(super) fn render(
    header: &str,
    lines: &[(&'static str, String)],
    old: Option<&Block<'_>>,
) -> String {
    let mut out: Vec<String> = Vec::new();
    if let Some(old) = old {
        out.extend(old.leading.iter().cloned());
    }
    if !header.is_empty() {
        out.push(format!("[[{header}]]"));
    }
    for (name, value) in lines {
        let key = old.and_then(|old| old.keys.iter().find(|key| key.name == *name));
        let Some(Key { before, after, .. }) = key else {
            out.push(format!("{name} = {value}"));
            continue;
        };
        out.extend(before.iter().cloned());
        out.push(match after {
            Some(after) => format!("{name} = {value} {after}"),
            None => format!("{name} = {value}"),
        });
    }
    if let Some(old) = old {
        let gone = |key: &&Key| !lines.iter().any(|(name, _)| *name == key.name);
        let gone = old.keys.iter().filter(gone).flat_map(|key| key.before.iter().chain(&key.after));
        out.extend(gone.filter(|line| !line.is_empty()).cloned());
        out.extend(old.tail.iter().cloned());
    }
    out.join("\n")
}
