//! The command line: what it refuses and how it says so, what it prints, and what it ends with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use pilotfish::session::Entry;
use serde_json::{Value, json};

use crate::need;
use crate::room::{Room, said};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Refused as input: the code, an error that says these words, and nothing on stdout.
fn refused(output: &Output, words: &[&str]) {
    assert_eq!(output.status.code(), Some(2), "{}", said(output));
    let told = text(&output.stderr);
    assert!(told.starts_with("error: "), "{told}");
    for word in words {
        assert!(told.contains(word), "no `{word}` in: {told}");
    }
    assert!(output.stdout.is_empty(), "{}", said(output));
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", said(output)))
}

/// A copy of a bundled checkpoint, to be damaged.
fn copy(room: &Room) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-llama");
    let to = room.path().join("model");
    fs::create_dir(&to).unwrap();
    for name in ["config.json", "model.safetensors", "tokenizer.json"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
    to
}

/// Deploys `model` with nobody there, into `workspace`.
fn deploy(room: &Room, words: &[&str]) -> Output {
    let mut all = vec!["deploy"];
    all.extend(words);
    all.extend(["--headless", "--autonomy", "auto", "--workspace", "workspace"]);
    room.run(&all)
}

#[test]
fn words_that_make_no_sense_are_refused_with_a_hint() {
    let room = Room::new();
    let check = |line: &str, words: &[&str]| {
        let line: Vec<&str> = line.split(' ').collect();
        refused(&room.run(&line), words);
        assert!(fs::read_dir(room.path()).unwrap().next().is_none(), "{line:?} left something");
    };
    check("deploy tiny-llama --headless", &["`--headless`", "hint: add `--autonomy auto`"]);
    check("deploy tiny-llama --headless --autonomy edit", &["at `edit`", "hint:"]);
    check("deploy tiny-llama --json", &["`--json` needs `--headless`", "hint:"]);
    check("deploy tiny-llama", &["no terminal", "hint:"]);
    check(
        "deploy tiny-lama --headless --autonomy auto",
        &["no model", "did you mean `tiny-llama`"],
    );
    check("deploy a/b.gguf --headless --autonomy auto", &["there is no `a/b.gguf`", "hint:"]);
    check("deploy llama-3.2-1b --headless --autonomy auto", &["weights", "--synthetic"]);
    check("deploy tiny-llama --headless --autonomy auti", &["no such stop", "did you mean `auto`"]);
    check("deploy tiny-llama --headless --autonomy auto --seq 0", &["`--seq 0`"]);
    let agent = "deploy tiny-llama --headless --autonomy auto --agent anthropic:opus";
    check(agent, &["not built yet", "hint: take `playbook`"]);
    let target = "deploy tiny-llama --headless --autonomy auto --target mlir-air";
    check(target, &["`mlir-air` is not built yet", "--target sim"]);
    check("resume nothing --headless", &["names no session"]);
    check("replay nothing", &["names no session"]);
    check("status nothing", &["names no session"]);
    check("gate show logit", &["no gate `logit`", "did you mean `logits`"]);
    check("skills show deploy", &["no skill `deploy`", "hint:"]);
    check("schema events", &["no schema", "did you mean `event`"]);
    check("model fetch tiny-llama", &["hf:org/name"]);
    check("judge nowhere", &["nowhere"]);
    check("npu cost nowhere.csv", &["cannot read", "hint:"]);
    check("npu numerics gem", &["there is no kernel `gem`", "hint: did you mean `gemm`?"]);
    check("npu numerics dance", &["there is no kernel", "hint: the kernels are gemm, gemv"]);
    let numerics = |words: &str, said: &[&str]| check(&format!("npu numerics {words}"), said);
    numerics(
        "gemm --shape 64,64",
        &["has 2 sizes, `gemm` takes 3: m,k,n", "hint: a published one"],
    );
    numerics("add --shape 64,x", &["is no size", "hint:"]);
    numerics("add --shape -5", &["`-5`", "is no size"]);
    numerics("rms-norm --shape 0,64", &["rms-norm: `rows` is 0", "hint:"]);
    numerics("gemv --shape 64,0", &["gemv: `k` is 0"]);
    for shape in ["1099511627776", "18446744073709551615"] {
        numerics(&format!("add --shape {shape}"), &["GiB of memory", "hint: take a smaller shape"]);
        let square = format!("gemm --shape {shape},{shape},{shape}");
        numerics(&square, &["GiB of memory", "at most 8 GiB"]);
    }
    numerics("add --shape 99999999999999999999", &["is no size"]);
    numerics("flash-attention --shape 131072,131072,64,2,2", &["operations, at most"]);
    numerics("flash-attention --shape 64,64,64,3,2", &["3 heads do not share 2 key heads"]);
    numerics("rope --shape 8,63", &["no halves"]);
    numerics("add --method drain", &["`--method`", "not `add`", "hint:"]);
    numerics("gemm --method drian", &["there is no method `drian`", "hint: did you mean `drain`?"]);
    let unknown = room.run(&["dance"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", said(&unknown));
}

#[test]
fn help_is_no_error() {
    let room = Room::new();
    for words in [&["--help"][..], &["deploy", "--help"], &["npu", "cost", "--help"], &[]] {
        let output = room.run(words);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(text(&output.stdout).contains("Usage: pilotfish"), "{}", said(&output));
    }
    assert!(text(&room.run(&["--help"]).stdout).contains("Exit codes"));
    assert!(!room.run(&["completions", "bash"]).stdout.is_empty());
}

#[test]
fn a_damaged_checkpoint_is_refused_before_anything_is_written() {
    type Damage<'a> = &'a dyn Fn(&Path);
    let config = |path: &Path, change: &dyn Fn(&mut Value)| {
        let place = path.join("config.json");
        let mut value: Value = serde_json::from_slice(&fs::read(&place).unwrap()).unwrap();
        change(&mut value);
        fs::write(place, value.to_string()).unwrap();
    };
    let weights = |path: &Path, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let place = path.join("model.safetensors");
        fs::write(&place, change(fs::read(&place).unwrap())).unwrap();
    };
    let cases: [(Damage, &str); 9] = [
        (&|path| weights(path, &|bytes| bytes[..bytes.len() - 1000].to_vec()), "model.safetensors"),
        (&|path| weights(path, &|bytes| [&[255; 7], &bytes[7..]].concat()), "model.safetensors"),
        (&|path| weights(path, &|_| Vec::new()), "model.safetensors"),
        (&|path| fs::remove_file(path.join("model.safetensors")).unwrap(), "safetensors"),
        (
            &|path| config(path, &|it| drop(it.as_object_mut().unwrap().remove("hidden_size"))),
            "hidden_size",
        ),
        (&|path| config(path, &|it| it["num_local_experts"] = json!(8)), "out of scope"),
        (&|path| config(path, &|it| it["kv_lora_rank"] = json!(512)), "out of scope"),
        (&|path| config(path, &|it| it["is_encoder_decoder"] = json!(true)), "out of scope"),
        (&|path| fs::write(path.join("tokenizer.json"), "{}").unwrap(), "tokenizer"),
    ];
    for (damage, word) in cases {
        let room = Room::new();
        let model = copy(&room);
        damage(&model);
        let output = deploy(&room, &["model"]);
        refused(&output, &[word, " hint: "]);
        assert!(!room.workspace().exists(), "{}", said(&output));
        refused(&room.run(&["model", "info", "model"]), &[word]);
        refused(&room.run(&["oracle", "model", "--prompt", "x"]), &[word]);
    }
}

#[test]
fn json_lines_are_the_lines_of_the_log() {
    let room = Room::with_short_road();
    let output = deploy(&room, &["tiny-llama", "--json"]);
    // The short road ends before the evaluator: somebody must say how to go on.
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let log = fs::read(room.session().unwrap().join("log.jsonl")).unwrap();
    assert_eq!(text(&output.stdout), text(&log));
    for line in text(&log).lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["v", "seq", "at", "by", "prev", "type", "event"], "{line}");
        assert_eq!(Entry::parse(line).unwrap().to_line(), line);
    }
    // 1. What can be asked of it afterwards.
    let status = json(&room.run(&["status", "workspace", "--json"]));
    assert_eq!((&status["model"], &status["phase_number"]), (&json!("tiny-llama"), &json!(0)));
    assert!(status["best_us"]["decode"].as_f64().unwrap() > 0.0);
    let replayed = room.run(&["replay", "workspace", "--json"]);
    assert_eq!(text(&replayed.stdout), text(&log));
    let listed = room.run(&["browse", "--json"]);
    assert!(
        text(&listed.stdout).contains(r#""model":"tiny-llama","target":"sim""#),
        "{}",
        said(&listed)
    );
    let gates = json(&room.run(&["gate", "list", "workspace", "--json"]));
    let scope = gates.as_array().unwrap().iter().find(|row| row["gate"] == "scope").unwrap();
    assert!(scope["standing"].as_str().unwrap().starts_with("Pass"), "{scope}");
    // 2. A second deployment does not touch it.
    let second = deploy(&room, &["tiny-llama"]);
    refused(&second, &["there is a session in `workspace`", "pilotfish resume workspace"]);
    assert_eq!(fs::read(room.session().unwrap().join("log.jsonl")).unwrap(), log);
    // 3. A fork shares its past byte for byte, has the files as they were, and goes on to the end.
    let moved = text(&log).lines().position(|line| line.contains(r#""tool":"undo_move""#)).unwrap();
    let forked = room.run(&["fork", "workspace", "--at", &moved.to_string()]);
    assert_eq!(forked.status.code(), Some(0), "{}", said(&forked));
    let folder = PathBuf::from(text(&forked.stdout).lines().next().unwrap());
    let root = room.path().join(format!("workspace-at-{moved}"));
    assert!(folder.starts_with(&root), "{}", folder.display());
    let shared: usize = text(&log).lines().take(moved + 1).map(|line| line.len() + 1).sum();
    let present = fs::read(folder.join("log.jsonl")).unwrap();
    assert_eq!(present[..shared], log[..shared]);
    let program = |root: &Path| fs::read_to_string(root.join("program/decode.toml")).unwrap();
    assert_ne!(program(&root), program(&room.workspace()));
    assert!(!root.join("lessons.md").exists());
    let resumed = room.run(&["resume", root.to_str().unwrap(), "--headless"]);
    assert_eq!(resumed.status.code(), Some(3), "{}", said(&resumed));
    assert_eq!(program(&root), program(&room.workspace()), "{}", said(&resumed));
    assert!(root.join("lessons.md").exists());
    let beyond = room.run(&["fork", "workspace", "--at", "99999", "--workspace", "other"]);
    refused(&beyond, &["there is no fact 99999"]);
}

#[test]
fn commands_for_machines_say_what_their_schemas_say() {
    let room = Room::with_short_road();
    assert_eq!(deploy(&room, &["tiny-llama"]).status.code(), Some(3));
    let rows = "id,kernel,method,regime,M,K,N,cols,rows,tile_m,tile_k_l2,tile_k_l1,tile_n\n\
        a,RMSNorm,,solo,512,,128,8,1,,,,16\nb,GEMM,drain,solo,64,32,720,4,3,16,32,32,80\nc,Dance,,solo,1,1,1,,,,,,\n";
    fs::write(room.path().join("rows.csv"), rows).unwrap();
    let commands: [(&str, &[&str]); 8] = [
        ("oracle", &["oracle", "tiny-llama", "--prompt", "At dawn", "--tokens", "4", "--json"]),
        ("npu-cost", &["npu", "cost", "rows.csv", "--json"]),
        ("npu-floor", &["npu", "floor", "llama-3.2-1b", "--json"]),
        ("npu-numerics", &["npu", "numerics", "rope", "--shape", "64,64", "--json"]),
        ("npu-numerics", &["npu", "numerics", "gemm", "--shape", "8,64,32", "--json"]),
        ("status", &["status", "workspace", "--json"]),
        ("model-info", &["model", "info", "tiny-llama", "--json"]),
        ("judge", &["judge", "workspace", "--gate", "scope", "--json"]),
    ];
    for (schema, words) in commands {
        let output = room.run(words);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let schema = json(&room.run(&["schema", schema]));
        conforms(&json(&output), &schema, &words.join(" "));
    }
    let event = json(&room.run(&["schema", "event"]));
    let facts = room.run(&["replay", "workspace", "--json"]);
    for line in text(&facts.stdout).lines() {
        conforms(&serde_json::from_str(line).unwrap(), &event, line);
    }
    let priced = json(&room.run(&["npu", "cost", "rows.csv", "--json"]));
    let ids: Vec<&Value> = priced.as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert!(priced[2]["refused"].is_string(), "{priced}");
}

#[test]
fn errors_of_a_kernel_are_told_with_what_is_published() {
    let room = Room::new();
    let run = |words: &str, threads: &str| {
        let mut command = room
            .pilotfish(&[&["npu", "numerics"], &words.split(' ').collect::<Vec<_>>()[..]].concat());
        let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        text(&output.stdout)
    };
    for words in [
        "gemm --shape 64,512,512 --method direct --json",
        "flash-attention --shape 256,256,64,4,2 --json",
        "layer-norm --shape 64,768 --json",
    ] {
        assert_eq!(run(words, "1"), run(words, "2"), "{words}: as many threads, as many results");
        assert_ne!(run(words, "1"), run(&format!("{words} --seed 5"), "1"), "{words}");
    }
    let told = run("GELU --shape 65536", "2");
    for words in [
        "gelu: elements 65536",
        "mean_rel_L1",
        "cosine",
        "outside",
        "8.40e-3",
        "±25 %",
        ", inside",
        "surrogate    tanh",
    ] {
        assert!(told.contains(words), "no `{words}` in {told}");
    }
    assert!(
        run("flash-attention --shape 256,1024,64,2,1 --full", "2").contains("surrogate    exp2")
    );
    let told = run("eltwise_add --shape 65536", "2");
    assert!(!told.contains("surrogate") && told.contains("±10 %"), "{told}");
    assert!(run("cast --shape 1000", "2").contains("nothing for sizes like these"));
    // QK-norm is RMSNorm, and a part of an LM head a GEMV.
    assert!(run("qk-norm --shape 512,128", "2").starts_with("rms-norm: rows 512, width 128"));
    assert!(run("lm-head --shape 256,576", "2").starts_with("gemv: n 256, k 576"));
}

/// The part of JSON Schema that ours are written in.
fn conforms(value: &Value, schema: &Value, place: &str) {
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = |choice: &&Value| {
            let required = choice["required"].as_array().unwrap();
            required.iter().all(|key| value.get(key.as_str().unwrap()).is_some())
        };
        assert_eq!(choices.iter().filter(fits).count(), 1, "{place}: {value}");
        return;
    }
    if let Some(known) = schema["enum"].as_array() {
        assert!(known.contains(value), "{place}: {value} is none of {known:?}");
    }
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.clone(),
        Value::Null => Vec::new(),
        kind => vec![kind.clone()],
    };
    let is = |kind: &Value| match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("{other}"),
    };
    assert!(kinds.is_empty() || kinds.iter().any(is), "{place}: {value} is no {kinds:?}");
    for key in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(key.as_str().unwrap()).is_some(), "{place}: no {key} in {value}");
    }
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(key) {
            conforms(value, schema, &format!("{place} {key}"));
        }
    }
    if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
        for item in items {
            conforms(item, schema, place);
        }
    }
}

#[test]
fn a_slip_in_a_program_is_found_where_it_is() {
    let room = Room::with_short_road();
    assert_eq!(deploy(&room, &["tiny-llama"]).status.code(), Some(3));
    let place = room.workspace().join("program/decode.toml");
    let program = fs::read_to_string(&place).unwrap();
    let legal = room.run(&["npu", "check", "workspace"]);
    assert_eq!(legal.status.code(), Some(0), "{}", said(&legal));
    assert_eq!(room.run(&["fmt", "--check", "workspace"]).status.code(), Some(0));
    // 1. A comment of a person stays.
    let odd = program.replacen(" = ", "   =  ", 1);
    fs::write(&place, format!("# mine\n{odd}")).unwrap();
    assert_eq!(room.run(&["fmt", "--check", "workspace"]).status.code(), Some(1));
    assert_eq!(room.run(&["fmt", "workspace"]).status.code(), Some(0));
    assert!(fs::read_to_string(&place).unwrap().starts_with("# mine\n"));
    // 2. A slip.
    let line = program.lines().position(|line| line.contains("residency")).unwrap() + 1;
    fs::write(&place, program.replacen("residency", "residancy", 1)).unwrap();
    for words in [&["npu", "check", "workspace"][..], &["fmt", "workspace"]] {
        let output = room.run(words);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let told = said(&output);
        assert!(told.contains(&format!("decode.toml:{line}:")), "{line}: {told}");
        assert!(told.contains("did you mean `residency`"), "{told}");
    }
    assert!(fs::read_to_string(&place).unwrap().contains("residancy"), "nothing was lost");
}

/// A bare name has no folder before it.
#[test]
fn a_file_in_the_same_folder_is_rewritten() {
    let room = Room::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR"));
    let from = from.join("models/llama-3.2-1b/published/decode.toml");
    let odd = fs::read_to_string(from).unwrap().replacen(" = ", "   =  ", 1);
    fs::write(room.path().join("odd.toml"), odd).unwrap();
    let output = room.run(&["fmt", "odd.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(room.run(&["fmt", "--check", "odd.toml"]).status.code(), Some(0));
}

#[test]
fn a_network_is_predicted_from_its_shape() {
    let room = Room::new();
    let of = |words: &[&str]| json(&room.run(&[&["npu", "predict"], words, &["--json"]].concat()));
    let whole = of(&["llama-3.2-1b"]);
    let part = of(&["llama-3.2-1b", "--layers", "2", "--seq", "512"]);
    let ms = |value: &Value, key: &str| value[key].as_f64().unwrap();
    assert!(ms(&whole, "ttft_ms") > 4.0 * ms(&part, "ttft_ms"));
    assert!(ms(&whole, "tokens_per_s") * ms(&whole, "tpot_ms") - 1e3 < 1e-6);
    for stage in ["ttft", "tpot"] {
        let interval = &whole[format!("{stage}_interval_ms")];
        let us = ms(&whole, &format!("{stage}_ms"));
        assert!(interval[0].as_f64() < Some(us) && Some(us) < interval[1].as_f64(), "{interval}");
        assert!(ms(&whole, &format!("floor_{stage}_ms")) < us);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/llama-3.2-1b/published");
    let folder = folder.to_str().unwrap();
    assert_eq!(of(&["llama-3.2-1b", "--program", folder])["ttft_ms"], whole["ttft_ms"]);
    let other = room.run(&["npu", "predict", "qwen3-4b", "--program", folder]);
    refused(&other, &["llama-3.2-1b", "qwen3-4b"]);
    refused(&room.run(&["npu", "predict", "llama-3.2-1b", "--seq", "0"]), &["--seq 0"]);
    refused(&room.run(&["npu", "predict", "llama-3.2-1b", "--coefficients", "no"]), &["`no`"]);
}

#[test]
fn rows_are_priced_with_coefficients_of_ones_own() {
    let room = Room::new();
    let rows = "id,kernel,regime,M,K,N,tile_m,tile_k_l2,tile_k_l1,tile_n,cols,rows,method,latency_us\n\
                a,GEMM,solo,2048,2048,2048,64,256,32,128,8,4,fused-cast,\n\
                b,RoPE,solo,0,,64,,,,,8,1,,\n";
    fs::write(room.path().join("rows.csv"), rows).unwrap();
    fs::write(room.path().join("c.toml"), "[coefficients]\ngemm_call = 2000.0\n").unwrap();
    let price =
        |words: &[&str]| json(&room.run(&[&["npu", "cost", "rows.csv", "--json"], words].concat()));
    let (built_in, own) = (price(&[]), price(&["--coefficients", "c.toml"]));
    let us = |rows: &Value, key: &str| rows[0][key].as_f64().unwrap();
    assert!(us(&own, "predicted_us") > us(&built_in, "predicted_us"));
    assert!(us(&built_in, "low_us") < us(&built_in, "predicted_us"));
    assert_eq!(built_in[0]["extrapolated"], false);
    assert!(built_in[1]["refused"].is_string(), "{built_in}");
    let few = room.run(&["npu", "calibrate", "rows.csv", "--out", "out.toml"]);
    refused(&few, &["0 rows", "coefficients", "latency_us"]);
    assert!(!room.path().join("out.toml").exists());
}

#[test]
fn a_disk_that_fills_up_loses_nothing() {
    let Some(mount) = need::tmpfs("size=200k") else { return };
    let room = Room::with_short_road();
    let skills = room.path().join("skills");
    fs::rename(room.workspace().join("skills"), &skills).unwrap();
    // All inside one mount: the disk fills up, gets larger, and the session goes on.
    let script = "\
        cp -r skills workspace/skills
        $P deploy tiny-llama --headless --autonomy auto --workspace workspace; echo \"first $?\"
        mount -o remount,size=64m workspace
        $P resume workspace --headless --say 'there is room again'; echo \"then $?\"
        cp -r workspace/. saved";
    let mut command = std::process::Command::new(&mount[0]);
    command.args(&mount[1..]).args(["sh", "-c", script]);
    let inner = room.pilotfish(&[]);
    for (key, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    command
        .env("P", env!("CARGO_BIN_EXE_pilotfish"))
        .env("PILOTFISH_TEST_FOLDER", room.workspace());
    fs::create_dir_all(room.path().join("saved")).unwrap();
    let output = command.current_dir(room.path()).output().unwrap();
    let told = said(&output);
    assert!(
        text(&output.stderr).contains("No space left") || told.contains("No space left"),
        "{told}"
    );
    assert!(told.contains("free some space"), "{told}");
    assert!(!told.contains("first 0") && told.contains("first "), "{told}");
    assert!(told.contains("then 3"), "{told}");
    let plan = fs::read_to_string(room.path().join("saved/plan.md")).unwrap();
    assert!(plan.contains("- [x] Phase 0"), "{plan}\n{told}");
}
