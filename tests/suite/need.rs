//! What a test needs and a machine may lack: absent, it is skipped aloud or fails on demand.

use std::env;
use std::path::PathBuf;

/// A path below the folder of design samples, if it is there.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = env::var_os("PILOTFISH_SHARED").map_or_else(|| "../shared".into(), PathBuf::from);
    found("shared", root.join(path))
}

/// The real checkpoint that `scripts/fetch-smollm2.sh` leaves in the cache, if it is there.
pub fn weights() -> Option<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cache = env::var_os("XDG_CACHE_HOME").map_or_else(|| home.join(".cache"), PathBuf::from);
    found("weights", cache.join("pilotfish/SmolLM2-135M-Instruct.Q4_1.gguf"))
}

fn found(kind: &str, path: PathBuf) -> Option<PathBuf> {
    if path.exists() {
        return Some(path);
    }
    refuse(kind, &format!("it is absent: {}", path.display()));
    None
}

/// Words that run another program with a fresh tmpfs mounted over the folder of its test: a small
/// one that fills up, or one that cannot be written.
pub fn tmpfs(options: &str) -> Option<Vec<String>> {
    let mount = format!(
        "mount -t tmpfs -o {options} tmpfs \"$PILOTFISH_TEST_FOLDER\" && exec \"$0\" \"$@\""
    );
    let words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", &mount];
    let words: Vec<String> = words.map(str::to_owned).into();
    let place = tempfile::tempdir().ok()?;
    let mut probe = std::process::Command::new(&words[0]);
    probe.args(&words[1..]).arg("true").env("PILOTFISH_TEST_FOLDER", place.path());
    let works = probe.output().is_ok_and(|output| output.status.success());
    if !works {
        refuse("mount", "this machine lets nobody mount a tmpfs of their own");
        return None;
    }
    Some(words)
}

fn refuse(kind: &str, why: &str) {
    let required = env::var("PILOTFISH_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|word| word.trim() == kind), "`{kind}` is required: {why}");
    eprintln!("skipped: `{kind}`: {why}");
}
