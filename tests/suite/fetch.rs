//! Fetching a checkpoint from a hub on this machine: whole, broken off, lying, closed, and away.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::thread;

use pilotfish::base::Hash;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::room::{Room, said};

#[derive(Clone, Copy, Default, PartialEq)]
enum Mood {
    #[default]
    Good,
    /// Ends the connection in the middle of a large file, the first time.
    BreaksOff,
    /// Tells a hash that the bytes do not have.
    Lies,
    /// Wants a token.
    Closed,
    /// Sends the whole file whatever part is asked for.
    KnowsNoRanges,
}

/// A hub with one repository, `org/tiny`.
struct Server {
    address: String,
    /// Lines of requests, each with the range that it asked for.
    asked: Arc<Mutex<Vec<String>>>,
}

fn serve(mood: Mood) -> Server {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-llama");
    let names = ["config.json", "tokenizer.json", "model.safetensors"];
    let files = names.map(|name| (name.to_owned(), fs::read(folder.join(name)).unwrap()));
    let files: BTreeMap<String, Vec<u8>> = files.into();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, mood, &files, &log);
        }
    });
    Server { address, asked }
}

fn answer(
    mut stream: TcpStream,
    mood: Mood,
    files: &BTreeMap<String, Vec<u8>>,
    log: &Mutex<Vec<String>>,
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let header = |name: &str| {
        let found = headers.iter().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        });
        found.unwrap_or_default()
    };
    let path = first.split(' ').nth(1).unwrap().to_owned();
    let range = header("range");
    let again = {
        let mut log = log.lock().unwrap();
        let again = log.iter().any(|line: &String| line.starts_with(&path));
        log.push(format!("{path} {range}").trim().to_owned());
        again
    };
    let mut send = |status: &str, body: &[u8], most: usize| {
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(&body[..most.min(body.len())]);
    };
    if mood == Mood::Closed && header("authorization") != "Bearer secret" {
        return send("401 Unauthorized", b"", 0);
    }
    if path.starts_with("/api/models/org/tiny/") {
        let siblings = files.iter().map(|(name, bytes)| {
            let mut sha256 = hex(bytes);
            if mood == Mood::Lies {
                sha256 = sha256.chars().rev().collect();
            }
            if name.ends_with(".safetensors") {
                json!({ "rfilename": name, "size": bytes.len(),
                        "lfs": { "sha256": sha256, "size": bytes.len() } })
            } else {
                json!({ "rfilename": name, "size": bytes.len() })
            }
        });
        let mut siblings: Vec<_> = siblings.collect();
        siblings.push(json!({ "rfilename": "onnx/model.safetensors", "size": 5 }));
        siblings.push(json!({ "rfilename": "README.md", "size": 5 }));
        let body = json!({ "sha": "abc123", "siblings": siblings }).to_string();
        return send("200 OK", body.as_bytes(), usize::MAX);
    }
    let name = path.strip_prefix("/org/tiny/resolve/abc123/").unwrap_or_default();
    let Some(bytes) = files.get(name) else { return send("404 Not Found", b"", 0) };
    let from = range.strip_prefix("bytes=").and_then(|range| range.split('-').next()?.parse().ok());
    let from: usize = from.filter(|_| mood != Mood::KnowsNoRanges).unwrap_or(0);
    let breaks =
        matches!(mood, Mood::BreaksOff | Mood::KnowsNoRanges) && !again && bytes.len() > 100_000;
    let most = if breaks { bytes.len() / 3 } else { usize::MAX };
    let status = if from > 0 { "206 Partial Content" } else { "200 OK" };
    send(status, &bytes[from..], most);
}

fn hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

fn run(room: &Room, hub: &str, token: Option<&str>, words: &[&str]) -> Output {
    let mut command = room.pilotfish(words);
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
    {
        command.env_remove(name);
    }
    for name in ["HF_HOME", "HF_HUB_CACHE", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"] {
        command.env_remove(name);
    }
    command.env("HF_ENDPOINT", hub);
    token.map(|token| command.env("HF_TOKEN", token));
    command.output().unwrap()
}

const FETCH: [&str; 3] = ["model", "fetch", "hf:org/tiny"];

/// Fetched whole: every byte as on the hub, and opened as the same model.
fn is_whole(room: &Room, output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    let folder = String::from_utf8(output.stdout.clone()).unwrap();
    let folder = Path::new(folder.trim());
    assert_eq!(folder, room.path().join("home/pilotfish/hf/org--tiny"));
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-llama");
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let bytes = fs::read(folder.join(name)).unwrap();
        assert_eq!(Hash::of(&bytes), Hash::of(&fs::read(original.join(name)).unwrap()), "{name}");
    }
    let names = fs::read_dir(folder).unwrap().map(|item| item.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["config.json", "fetched.json", "model.safetensors", "tokenizer.json"]);
}

#[test]
fn a_checkpoint_comes_whole_and_then_needs_no_network() {
    let (room, server) = (Room::new(), serve(Mood::Good));
    is_whole(&room, &run(&room, &server.address, None, &FETCH));
    let asked = server.asked.lock().unwrap().len();
    assert_eq!(asked, 4);
    let info = run(&room, "http://127.0.0.1:9", None, &["model", "info", "hf:org/tiny", "--json"]);
    assert_eq!(info.status.code(), Some(0), "{}", said(&info));
}

#[test]
fn what_broke_off_goes_on_where_it_was() {
    for mood in [Mood::BreaksOff, Mood::KnowsNoRanges] {
        let (room, server) = (Room::new(), serve(mood));
        is_whole(&room, &run(&room, &server.address, None, &FETCH));
        let asked = server.asked.lock().unwrap();
        let large: Vec<&String> =
            asked.iter().filter(|line| line.contains("safetensors")).collect();
        assert_eq!(large.len(), 2, "{asked:?}");
        assert!(large[1].contains("bytes="), "{asked:?}");
    }
}

#[test]
fn bytes_of_another_hash_are_not_kept() {
    let (room, server) = (Room::new(), serve(Mood::Lies));
    let output = run(&room, &server.address, None, &FETCH);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("has not the hash"), "{}", said(&output));
    let folder = room.path().join("home/pilotfish/hf/org--tiny");
    assert!(!folder.join("model.safetensors").exists());
    assert!(!folder.join("model.safetensors.part").exists());
}

#[test]
fn a_closed_repository_wants_a_token_of_the_environment() {
    let (room, server) = (Room::new(), serve(Mood::Closed));
    let output = run(&room, &server.address, None, &FETCH);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("set `HF_TOKEN`"), "{}", said(&output));
    let output = run(&room, &server.address, Some("secret"), &FETCH);
    is_whole(&room, &output);
    assert!(!said(&output).contains("secret"));
}

#[test]
fn without_a_network_it_says_which_files_to_put_where() {
    let room = Room::new();
    let deploy = ["deploy", "hf:org/tiny", "--headless", "--autonomy", "auto"];
    for words in [&FETCH[..], &deploy] {
        // Nobody listens at this port.
        let output = run(&room, "http://127.0.0.1:9", None, words);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let told = said(&output);
        for word in ["cannot fetch `hf:org/tiny`", "`config.json`", "`.safetensors`", "org--tiny"] {
            assert!(told.contains(word), "no {word}: {told}");
        }
    }
    for name in ["hf:tiny", "hf:../..", "hf:a/b/c", "hf:org/"] {
        let output = run(&room, "http://127.0.0.1:9", None, &["model", "fetch", name]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("no name of a repository"), "{}", said(&output));
    }
    let missing = run(&room, &serve(Mood::Good).address, None, &["model", "fetch", "hf:org/other"]);
    assert!(said(&missing).contains("no such repository"), "{}", said(&missing));
}
